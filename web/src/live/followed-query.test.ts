import { environmentManager, QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { applyToQuery, type Followed, followedQuery } from './followed-query.ts'
import { createLiveConnection } from './live-connection.ts'

environmentManager.setIsServer(() => false) // else nothing is read again
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('what events do not tell is read again in time, however many events come', async () => {
  let reads = 0
  const followed: Followed<{ reads: number; events: number }> = {
    queryKey: ['followed'],
    read: async () => ({ reads: ++reads, events: 0 }),
    apply: (answer, events) => ({ ...answer, events: answer.events + events.length }),
    readAgainMs: 15_000,
  }
  const connection = createLiveConnection({
    open: () => ({ close: () => {}, addEventListener: () => {} }),
    nextFrame: () => {},
    nowMs: Date.now,
    random: () => 1,
  })
  const client = new QueryClient()
  const stop = new QueryObserver(client, followedQuery(connection, followed)).subscribe(() => {})
  const event = { id: 1, task_id: 'a', at: 0, kind: 'note', detail: '' } as const
  for (let second = 0; second < 40; second++) {
    await vi.advanceTimersByTimeAsync(1_000)
    applyToQuery(client, followed, [event])
  }
  expect(client.getQueryData(followed.queryKey)).toMatchObject({ reads: 3 })
  stop()
  client.clear()
})
