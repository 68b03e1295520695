import { expect, test } from 'vitest'
import { openFileDatabase } from '../../../test/support/database.ts'
import { createTaskStore } from '../../../test/support/task-store.ts'
import { anonymous } from '../../auth/access/principal.ts'
import { type LockdownCalendar, neverClosed } from '../../locks/evaluate-deploy-lock.ts'
import { openDatabase } from '../../storage/database.ts'
import { DeploymentsLockedError } from '../task-errors.ts'
import { createSubmitTask } from './submit-task.ts'

const { testDatabase, database } = await openFileDatabase()

const submission = {
  app: 'shop',
  author: 'ada',
  project: 'demo',
  images: [{ image: 'registry.example/shop', tag: 'v1' }],
}
const always = { from: new Date(0), to: new Date('9999-01-01') }

/**
 * Submits a task and tells what came of it, how often the watchers were told that one may be stored unseen, and how many
 * were being accepted: when it was to be stored, when it was announced, and afterwards.
 */
async function submitted(to: typeof database, closed: LockdownCalendar = neverClosed) {
  let unanswered = 0
  const accepting = new Set<string>()
  const sizes: number[] = []
  const store = createTaskStore(to)
  const submitTask = createSubmitTask(
    {
      tasks: {
        ...store,
        accept(given) {
          sizes.push(accepting.size)
          return store.accept(given)
        },
      },
      owner: () => undefined,
      accepting,
      announce: ({ task }) => sizes.push(accepting.has(task.id) ? 1 : 0),
      onAmbiguousCommit: () => (unanswered += 1),
      enforceUnfinishedLimit: async () => undefined,
      calendarAround: () => closed,
      now: () => new Date(),
    },
    {
      defaultTimeoutSeconds: 900,
      waitForAppSeconds: 0,
      refreshByDefault: true,
      appsInAnyNamespace: false,
      controlPlaneNamespace: 'argocd',
    },
  )
  const outcome = await submitTask(submission, anonymous, {
    key: undefined,
    traceparent: undefined,
    readerDigestFor: () => undefined,
  }).catch((error: unknown) => error)
  return { outcome, unanswered, accepting: [...sizes, accepting.size] }
}

test('a task that is accepted or refused by the lock is stored or not, and nobody has to look for it', async () => {
  expect(await submitted(database)).toEqual({
    outcome: { id: expect.any(String) },
    unanswered: 0,
    accepting: [1, 1, 0],
  })
  const refused = await submitted(database, { known: always, intervals: [always] })
  expect(refused).toEqual({ outcome: expect.any(DeploymentsLockedError), unanswered: 0, accepting: [1, 0] })
})

test('after a submission without an answer the watchers look for what it may have stored', async () => {
  const nobody = { ...testDatabase.settings, connection: { connectionString: 'postgres://127.0.0.1:1/nobody' } }
  await using unreachable = openDatabase(nobody, () => undefined)
  expect(await submitted(unreachable)).toEqual({ outcome: expect.any(Error), unanswered: 1, accepting: [1, 0] })
})
