import { z } from 'zod'
import { exitCodes } from '../../contract/exit-codes.ts'
import { type Delivery, deliveryStates } from '../../contract/notify/delivery.ts'
import { readSettings } from '../compose/settings.ts'
import { createNotificationStore, type NotificationStore } from '../notify/outbox/notification-store.ts'
import { openDatabase } from '../storage/database.ts'
import { runCommand } from './run-command.ts'

const usage = `usage: npm run deliveries -- list [${deliveryStates.join(' | ')}]
       npm run deliveries -- retry <id>`
const states: readonly string[] = deliveryStates

/** `npm run deliveries`: what targets were told, in the service's database, with its own settings. */
async function run([command, argument, ...more]: readonly string[]): Promise<number> {
  if (more.length > 0) return fail(usage, exitCodes.usage)
  if (command === 'list' && (argument === undefined || states.includes(argument)))
    return inStore(async (store) => {
      const listed = await store.list(argument as Delivery['state'] | undefined)
      console.log(['id', 'state', 'created', 'target', 'event', 'task', 'attempts', 'last error'].join('\t'))
      for (const one of listed) console.log(lineOf(one))
      return 0
    })
  if (command === 'retry' && argument !== undefined)
    return inStore(async (store) => {
      if (!z.guid().safeParse(argument).success || !(await store.retry(argument)))
        return fail('no delivery with this id is dead or off', 1)
      console.log(`${argument} is sent again`)
      return 0
    })
  return fail(usage, exitCodes.usage)
}

async function inStore(act: (store: NotificationStore) => Promise<number>): Promise<number> {
  const { settings } = readSettings(process.env)
  await using database = openDatabase({ ...settings.database, maxConnections: 1 }, () => undefined)
  return await act(createNotificationStore(database))
}

const lineOf = ({ id, state, created, target, event, task_id = '-', attempts, last_error = '' }: Delivery) =>
  [id, state, new Date(created * 1_000).toISOString(), target, event, task_id, attempts, last_error].join('\t')

function fail(message: string, exitCode: number): number {
  console.error(message)
  return exitCode
}

await runCommand(() => run(process.argv.slice(2)))
