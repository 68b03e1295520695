import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { exitCodes } from '../../contract/exit-codes.ts'
import type { LockChange } from '../../contract/notify/lock-change.ts'
import type { TaskRecord } from '../../contract/task.ts'
import { type NotificationEvent, notificationEvents } from '../../contract/text/notification-text.ts'
import { readSettings } from '../compose/settings.ts'
import { createPost } from '../http/outgoing/post.ts'
import type { LockMessage, Message } from '../notify/kinds/attempt.ts'
import { send } from '../notify/kinds/send.ts'
import { readSecret } from '../notify/targets/secret-reader.ts'
import { isHostTarget } from '../notify/targets/target.ts'
import { runCommand } from './run-command.ts'

const statuses = {
  started: 'in progress',
  succeeded: 'deployed',
  recovered: 'deployed',
  failed: 'failed',
  aborted: 'aborted',
  cancelled: 'cancelled',
} as const satisfies Record<NotificationEvent, TaskRecord['status']>
const events = [...notificationEvents, 'lock_changed'] as const
type SampleEvent = (typeof events)[number]
const usage = `usage: npm run notify -- <target> [--event ${events.join(' | ')}]`

/** `npm run notify`: sends a sample to a target of the configuration file, and prints what came of it. */
async function run(args: readonly string[]): Promise<number> {
  const wanted = wantedBy(args)
  if ('issue' in wanted) return fail(wanted.issue)
  const { settings } = readSettings(process.env)
  const { targets } = settings.config.current().notifications
  const target = targets.get(wanted.name)
  if (target === undefined)
    return fail(`no target is named ${wanted.name}: ${[...targets.keys()].join(', ') || 'there is none'}`)
  if (isHostTarget(target))
    return fail(`${wanted.name}: a target of the kind ${target.kind} takes no sample, only deployments`)
  await using post = createPost()
  const nowSeconds = Date.now() / 1_000
  const message = sampleMessage(wanted.event, settings.http.publicUrl, nowSeconds)
  const attempt = await send(post.post, target, message, (reference) => readSecret(reference, process.env))
  if (attempt.kind === 'skipped') return fail(`${wanted.name} takes nothing of a sample of ${wanted.event}`, 1)
  if (attempt.kind !== 'sent') return fail(`${wanted.name}: ${attempt.error}`, 1)
  console.log(`${wanted.name} took a sample of ${wanted.event}`)
  return 0
}

function wantedBy(
  args: readonly string[],
): { readonly name: string; readonly event: SampleEvent } | { readonly issue: string } {
  try {
    const options = { event: { type: 'string', default: 'failed' } } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [name, ...more] = positionals
    const event = events.find((one) => one === values.event)
    if (name === undefined || more.length > 0 || event === undefined) return { issue: usage }
    return { name, event }
  } catch (error) {
    return { issue: `${(error as Error).message}\n${usage}` }
  }
}

function sampleMessage(event: SampleEvent, publicUrl: string | undefined, nowSeconds: number): Message | LockMessage {
  const common = { id: randomUUID(), reference: null, nowSeconds }
  const page = (path: string) => (publicUrl === undefined ? '' : `${publicUrl}/${path}`)
  if (event === 'lock_changed') return { ...common, event, lock: sampleLock(nowSeconds), pageUrl: page('') }
  const task = sampleOf(statuses[event], nowSeconds)
  const readTrace = async () => ({ traceparent: undefined, events: [] })
  return { ...common, attempts: 1, event, task, readTrace, pageUrl: page(`task/${task.id}`) }
}

const sampleLock = (nowSeconds: number): LockChange => ({
  active: true,
  source: 'manual',
  since: nowSeconds,
  until: nowSeconds + 3_600,
  reason: 'a sample, nothing is locked',
  set_by: 'ada',
  override_until: null,
  changed_by: 'ada',
})

const sampleOf = (status: TaskRecord['status'], nowSeconds: number): TaskRecord => ({
  id: randomUUID(),
  created: nowSeconds - 48,
  updated: nowSeconds,
  app: 'sample',
  author: 'ada',
  project: 'sample',
  images: [{ image: 'registry.example.com/sample', tag: '1.2.0' }],
  status,
  ...(status === 'failed' ? { status_reason: 'a sample, nothing failed', headline: 'a sample, nothing failed' } : {}),
})

function fail(message: string, exitCode: number = exitCodes.usage): number {
  console.error(message)
  return exitCode
}

await runCommand(() => run(process.argv.slice(2)))
