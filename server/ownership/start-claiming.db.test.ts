import { expect, test, vi } from 'vitest'
import { createTestDatabase } from '../../test/support/database.ts'
import { createTaskStore, type TaskStore } from '../../test/support/task-store.ts'
import { makeTaskId } from '../deployments/task-id.ts'
import { openDatabase } from '../storage/database.ts'
import { startClaiming } from './start-claiming.ts'
import { createWakeUps } from './wake-ups.ts'

const aTask = (id: string) => ({
  id,
  app: 'shop',
  author: 'ada',
  project: 'shop',
  images: JSON.stringify([{ image: 'registry.example/shop', tag: 'v1' }]),
  timeout_seconds: 60,
  deadline: new Date(Date.now() + 60_000),
  refresh: true,
  may_write: false,
})

/** A registered replica that owns tasks, with what it watches and what went wrong; `claim` stands between it and the store. */
async function anOwner(stack: AsyncDisposableStack, between: (claim: TaskStore['claim']) => TaskStore['claim']) {
  const testDatabase = stack.use(await createTestDatabase())
  const database = stack.use(openDatabase(testDatabase.settings, () => undefined))
  const owner = crypto.randomUUID()
  await database.query.insertInto('replicas').values({ id: owner, lock_key: '7' }).execute()
  const watched: string[] = []
  const accepting: string[] = []
  const troubles: unknown[] = []
  const wakeUps = stack.use(createWakeUps(database, (error) => troubles.push(error)))
  const store = createTaskStore(database)
  const claim = vi.fn<TaskStore['claim']>(between(store.claim))
  const start = () =>
    stack.use(
      startClaiming({
        replica: { id: () => owner },
        tasks: { ...store, claim },
        watcher: {
          watch: async (claimed) => void watched.push(...claimed.map(({ task }) => task.id)),
          drop: () => undefined,
          watchedIds: () => watched,
        },
        isHeld: (id) => [...watched, ...accepting].includes(id),
        removeDead: async () => 0,
        wakeUps,
        onError: (_message, error) => troubles.push(error),
      }),
    )
  const insert = (id: string, change: { owner?: string } = {}) =>
    database.query
      .insertInto('tasks')
      .values({ ...aTask(id), ...change })
      .execute()
  return { owner, watched, accepting, troubles, claim, start, insert }
}

/** What is there at the start is claimed at once. */
async function untilStartIsOver({ mock }: { mock: { calls: unknown[]; settledResults: unknown[] } }): Promise<void> {
  await expect.poll(() => mock.settledResults.length > 0 && mock.settledResults.length === mock.calls.length).toBe(true)
}

test.concurrent('a task whose wake-up was lost is found by the sweep, a few seconds later', async ({ expect }) => {
  await using stack = new AsyncDisposableStack()
  const { watched, troubles, claim, start, insert } = await anOwner(stack, (given) => given)
  start()
  await untilStartIsOver(claim)
  const id = makeTaskId(new Date())
  await insert(id)
  await expect.poll(() => watched).toEqual([id])
  expect(troubles).toEqual([])
})

test.concurrent('a task whose claim was made but never answered is claimed again by the next sweep', async ({
  expect,
}) => {
  await using stack = new AsyncDisposableStack()
  let isLost = false
  const { watched, claim, start, insert } = await anOwner(stack, (make) => async (...given) => {
    const claimed = await make(...given)
    if (claimed.length === 0 || !isLost) return claimed
    isLost = false
    throw new Error('the connection broke after the commit')
  })
  start()
  await untilStartIsOver(claim)
  isLost = true
  const id = makeTaskId(new Date())
  await insert(id)
  await expect.poll(() => isLost).toBe(false)
  await expect.poll(() => watched).toEqual([id])
  const results = claim.mock.settledResults
  const afterTheLoss = results[results.findIndex(({ type }) => type === 'rejected') + 1]
  expect(afterTheLoss).toMatchObject({ type: 'fulfilled', value: [{ task: { id } }] })
})

test.concurrent('a task that was accepted without an answer is claimed by the next sweep', async ({ expect }) => {
  await using stack = new AsyncDisposableStack()
  const { owner, watched, claim, start, insert } = await anOwner(stack, (given) => given)
  const owned = start()
  await untilStartIsOver(claim)
  const id = makeTaskId(new Date())
  await insert(id, { owner })
  owned.noteAmbiguousCommit()
  await expect.poll(() => watched).toEqual([id])
})

test.concurrent('a task that is being accepted is not claimed a second time', async ({ expect }) => {
  await using stack = new AsyncDisposableStack()
  const { owner, watched, accepting, claim, start, insert } = await anOwner(stack, (given) => given)
  const owned = start()
  await untilStartIsOver(claim)
  const [accepted, lost] = [makeTaskId(new Date()), makeTaskId(new Date())]
  accepting.push(accepted)
  await insert(accepted, { owner })
  await insert(lost, { owner })
  owned.noteAmbiguousCommit()
  await expect.poll(() => watched).toContain(lost)
  expect(watched).toEqual([lost])
})
