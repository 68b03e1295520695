import { describe, expect, test } from 'vitest'
import type { CommitHistory } from '../git/commit-history.ts'
import type { OpenWrite } from './pending-write-store.ts'
import { createPushTracer } from './push-tracer.ts'

const base = 'a'.repeat(40)
const tip = { commit: 'b'.repeat(40), isFresh: true }
const landed = 'c'.repeat(40)
const queue = { repository: 'h/r', branch: 'main', address: 'git@h:r', owner: 'o', fence: '1' }

const cancelledWrite: OpenWrite = {
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
  isWanted: false,
  secondsLeft: 60,
  waitedSeconds: 1,
}

/** Begins to look for the write, and waits until the tracer says that there is something to take. */
async function trace(trailersBetween: CommitHistory['trailersBetween']) {
  const rested = Promise.withResolvers<void>()
  const tracer = createPushTracer(queue, {
    store: { hasNewerTask: async () => false },
    history: {
      trailersBetween,
      lastChange: async () => undefined,
    },
    planAt: async () => ({ commits: [], unchanged: [], refused: [] }),
    pause: async () => {},
    random: () => 0,
    onRested: rested.resolve,
  })
  tracer.begin([cancelledWrite], tip)
  await rested.promise
  return tracer
}

describe('a writer that asks between the end of a search and its next step', () => {
  test.for<[string, CommitHistory['trailersBetween']]>([
    ['a commit', async () => new Map([['late', landed]])],
    ['no commit', async () => new Map()],
    ['a failure', () => Promise.reject(new Error('no history'))],
  ])('does not begin another one before its result was taken: %s', async ([, trailersBetween]) => {
    const tracer = await trace(trailersBetween)
    expect(tracer.isBusy()).toBe(true)
    const { results, failure } = tracer.take()
    expect(results.length + (failure?.taskIds.length ?? 0)).toBe(1)
    expect(tracer.isBusy()).toBe(false)
  })
})
