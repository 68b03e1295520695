import { expect, test } from 'vitest'
import { createEventFollowers, type PageStart } from './event-followers.ts'
import { renderEvent } from './framed-event.ts'

const newest = 1_000_000
const anEvent = (id: number) => renderEvent({ id, task_id: 'task', at: 0, kind: 'note', detail: '' })

/** Followers of one timeline in which each page but the newest one holds one event of many. */
function aTimeline() {
  const rounds: number[][] = []
  const readPages = async (starts: readonly PageStart<'all'>[]) => {
    rounds.push(starts.map(({ after }) => after))
    return starts.map(({ after }) => ({ events: [anEvent(after + 1)], isFull: after + 1 < newest }))
  }
  const followers = createEventFollowers<'all'>({
    maxPages: 10,
    readPages,
    onError: (error) => expect.fail(String(error)),
  })
  const stopping = new AbortController()
  return {
    rounds,
    async follow(after: number, pages: number) {
      let read = 0
      for await (const _page of followers.follow({ of: 'all', after }, stopping.signal)) {
        read += 1
        if (read === pages) return
      }
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await followers[Symbol.asyncDispose]()
    },
  }
}

test('a live follower is read for in the first round, however many others catch up', async () => {
  await using timeline = aTimeline()
  const catchingUp = Array.from({ length: 120 }, (_, at) => timeline.follow(at * 1_000, 3))
  await timeline.follow(newest - 1, 1)
  expect(timeline.rounds.findIndex((round) => round.includes(newest - 1))).toBeLessThanOrEqual(1)
  await Promise.all(catchingUp)
})

test('those furthest behind are read for too, while others ask for more and more', async () => {
  await using timeline = aTimeline()
  for (let at = 1; at <= 120; at += 1) void timeline.follow(at * 1_000, Number.POSITIVE_INFINITY)
  await timeline.follow(0, 3)
  expect(timeline.rounds.findLastIndex((round) => round.includes(2))).toBeLessThan(100)
})
