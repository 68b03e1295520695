import { once } from 'node:events'
import { expect, test } from 'vitest'
import type { TaskRecord } from '../../contract/task.ts'
import type { Api } from '../http/api.ts'
import { NoAnswerError } from '../http/connection-errors.ts'
import { followTask } from './follow-task.ts'

const ignore = () => undefined
const follow = (api: Pick<Api, 'task' | 'waitForTask' | 'events'>, isAccepted: boolean, timeoutSeconds = 900) =>
  followTask('1', {
    api,
    streams: { free: 1 },
    signal: new AbortController().signal,
    isAccepted,
    timeoutSeconds,
    onTask: ignore,
    onEvent: ignore,
    onPause: ignore,
  })

test('a stream that lives on with nothing to tell is left a minute after the deadline of the task', async () => {
  const now = 1_000
  // A minute after its deadline is in 50 ms.
  const task = {
    id: '1',
    app: 'shop',
    status: 'in progress',
    images: [],
    created: now - 60,
    timeout: 0.05,
  } as unknown as TaskRecord
  const api = {
    task: async () => ({ task, now }),
    waitForTask: async () => ({ task, now }),
    async *events(_id: string, _after: string | undefined, signal = new AbortController().signal) {
      if (!signal.aborted) await once(signal, 'abort')
      yield* []
    },
  }
  expect(await follow(api, true)).toMatchObject({
    kind: 'gave_up',
    why: 'it has no verdict a minute after its deadline',
  })
})

const failing = (error: Error) => {
  const fail = async () => {
    throw error
  }
  return { task: fail, waitForTask: fail, events: fail as never }
}
const elsewhere = new NoAnswerError('the host name is unknown', { isPermanent: true })

test.for([
  ['a host that does not exist', elsewhere],
  ['a page of another server', new NoAnswerError('not from Deployment Watcher', { status: 404 })],
] as const)('%s ends the wait for a task that was never read', async ([, error]) => {
  expect(await follow(failing(error), false)).toMatchObject({ kind: 'rejected', id: '1', exitCode: 3 })
})

test('a task that was accepted is asked for again until its deadline', async () => {
  expect(await follow(failing(elsewhere), true, -60)).toMatchObject({ kind: 'gave_up', isGone: false })
})
