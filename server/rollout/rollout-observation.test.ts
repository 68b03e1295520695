import { describe, expect, test } from 'vitest'
import { nothingRefreshed, observeRefresh, observeRefreshDirectly } from './rollout-observation.ts'

const asked = { askedAtMs: 100, isSeen: false, acceptedAtMs: 2_100 }
const refresh = { ...nothingRefreshed, lastAskedAtMs: 100, pending: asked }
const without = { isRefreshPending: false, version: 20 }
const answered = { askedAtMs: 100, version: 20 }

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
