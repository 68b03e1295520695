import { describe, expect, test } from 'vitest'
import {
  answerRefresh,
  askRefresh,
  nothingRefreshed,
  observeRefresh,
  observeRefreshDirectly,
} from './rollout-observation.ts'

const asked = { beganAfterMs: 50, isSeen: false, acceptedAtMs: 2_100 }
const refresh = { ...nothingRefreshed, lastAskedAtMs: 100, pending: asked }
const without = { isRefreshPending: false, version: 20 }
const answered = { beganAfterMs: 50, version: 20 }

describe('an accepted refresh whose events were lost', () => {
  test('is over when a later direct read shows no annotation', () =>
    expect(observeRefreshDirectly(refresh, without, 2_100).answered).toEqual(answered))
  test('is not over by a read that was asked before it was accepted', () =>
    expect(observeRefreshDirectly(refresh, without, 2_099).answered).toBeUndefined())
  test('is not over by an event without the annotation: that may be older', () =>
    expect(observeRefresh(refresh, without).answered).toBeUndefined())
  test('is not over while the annotation is there', () =>
    expect(observeRefreshDirectly(refresh, { ...without, isRefreshPending: true }, 2_100).answered).toBeUndefined())
})

test('a refresh whose call has not come back is not over by a direct read', () =>
  expect(
    observeRefreshDirectly({ ...refresh, pending: { ...asked, acceptedAtMs: undefined } }, without, 5_000).answered,
  ).toBeUndefined())

describe('a refresh began after the last direct read that showed none under way (decision 0015)', () => {
  const running = { isRefreshPending: true, version: 19 }
  const readAt = (atMs: number, seen: typeof without) => observeRefreshDirectly(nothingRefreshed, seen, atMs)

  test.for([
    { name: 'nothing was read', before: nothingRefreshed, beganAfterMs: undefined },
    { name: 'a read showed none', before: readAt(40, without), beganAfterMs: 40 },
    { name: 'a read showed another one', before: readAt(40, running), beganAfterMs: undefined },
  ])('$name', ({ before, beganAfterMs }) => {
    const byStream = observeRefresh(observeRefresh(askRefresh(before, 100), running), without)
    expect(byStream.answered).toEqual({ beganAfterMs, version: 20 })
    expect(answerRefresh(askRefresh(before, 100), 100, without).answered).toEqual({ beganAfterMs, version: 20 })
    expect(answerRefresh(byStream, 100, without).answered).toEqual({ beganAfterMs, version: 20 })
  })

  test('its own answer shows that none is under way any more', () =>
    expect(answerRefresh(askRefresh(nothingRefreshed, 100), 100, without).refreshIdleAtMs).toBe(100))
})
