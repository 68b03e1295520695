import { describe, expect, test } from 'vitest'
import type { CommitHistory } from '../git/history/commit-history.ts'
import type { OpenWrite } from './pending-write-store.ts'
import { createPushTracer } from './push-tracer.ts'

const base = 'a'.repeat(40)
const tip = { commit: 'b'.repeat(40), isFresh: true }
const landed = 'c'.repeat(40)
const queue = { repository: 'h/r', branch: 'main', address: 'git@h:r', owner: 'o', fence: '1' }

const aWrite: OpenWrite = {
  taskId: 'late',
  plan: {
    app: 'shop',
    repository: 'git@h:r',
    address: 'git@h:r',
    branch: 'main',
    file: 'x.yaml',
    tool: 'helm',
    entries: [],
    sourceEntries: [],
    message: 'm',
  },
  state: 'pushing',
  base,
  lastReason: undefined,
  isWanted: true,
  secondsLeft: 60,
  waitedSeconds: 1,
}

/** Begins to look for the write, and waits until the tracer says that there is something to take. */
async function trace(isWanted: boolean, trailersBetween: CommitHistory['trailersBetween']) {
  const rested = Promise.withResolvers<void>()
  const tracer = createPushTracer(queue, {
    store: { hasNewerTask: async () => false },
    history: { trailersBetween },
    planAt: async () => ({ commits: [], unchanged: [], refused: [] }),
    pause: async () => {},
    random: () => 0,
    onIdle: rested.resolve,
  })
  tracer.begin([{ ...aWrite, isWanted }], tip)
  await rested.promise
  return tracer
}

describe('a writer that asks between the end of a search and its next step', () => {
  test.for<[string, boolean, CommitHistory['trailersBetween']]>([
    ['found on the branch', true, async () => new Map([['late', landed]])],
    ['not there, and to be sent again', true, async () => new Map()],
    ['not there, and of a task that was cancelled', false, async () => new Map()],
    ['not known, as the history cannot be read', true, () => Promise.reject(new Error('no history'))],
  ])('does not begin another one before it has taken the result: %s', async ([, isWanted, trailersBetween]) => {
    const tracer = await trace(isWanted, trailersBetween)
    expect(tracer.isBusy()).toBe(true)
    const { results, absent, failure } = tracer.take()
    expect(results.length + absent.length + (failure?.taskIds.length ?? 0)).toBe(1)
    expect(tracer.isBusy()).toBe(false)
  })
})
