import { setTimeout as after } from 'node:timers/promises'
import type { Health } from '../../contract/health.ts'

type PartChecks = {
  /** Rejects when the database does not answer; gives what a person should know of it, such as that it is embedded. */
  readonly checkDatabase: () => Promise<string | undefined>
  /** What the watcher last saw of the delivery controller; no call is made. */
  readonly controllerState: () => Health['delivery_controller']
}

export type CheckParts = () => Promise<Health>

const databaseLimitMs = 2_000

/** Looks at the parts the service needs. Probes that arrive together share one look, so they cannot crowd the database. */
export function createCheckParts({ checkDatabase, controllerState }: PartChecks): CheckParts {
  let look: Promise<Health['database']> | undefined
  const databaseState = () => {
    look ??= withinLimit(checkDatabase()).finally(() => {
      look = undefined
    })
    return look
  }
  return async () => {
    const database = await databaseState()
    const controller = controllerState()
    // Only the database can take the service down: tasks are durable and wait for the delivery controller.
    return { status: database.status === 'down' ? 'down' : 'up', database, delivery_controller: controller }
  }
}

async function withinLimit(check: Promise<string | undefined>): Promise<Health['database']> {
  const answered = new AbortController()
  const tooLate = after(databaseLimitMs, down('no answer within 2 s'), { signal: answered.signal })
  const inTime = check.then(
    (detail): Health['database'] => (detail === undefined ? { status: 'up' } : { status: 'up', detail }),
    () => down('does not answer'), // the cause may name hosts and users; the query logs it
  )
  try {
    return await Promise.race([inTime, tooLate])
  } finally {
    tooLate.catch(() => undefined)
    answered.abort()
  }
}

function down(detail: string): Health['database'] {
  return { status: 'down', detail }
}
