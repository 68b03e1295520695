import { once } from 'node:events'
import { expect, test } from 'vitest'
import type { TaskRecord } from '../../contract/task.ts'
import { followTask } from './follow-task.ts'

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
  const ignore = () => undefined
  const outcome = await followTask('1', {
    api,
    streams: { free: 1 },
    signal: new AbortController().signal,
    timeoutSeconds: 900,
    onTask: ignore,
    onEvent: ignore,
    onPause: ignore,
  })
  expect(outcome).toMatchObject({ kind: 'gave_up', why: 'it has no verdict a minute after its deadline' })
})
