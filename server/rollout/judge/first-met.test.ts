import { expect, test } from 'vitest'
import { aSha } from '../../../test/support/application-builder.ts'
import { beforeCommit, commit, judge, type Look } from '../../../test/support/judge-looks.ts'
import { storedConditionSince } from './input/rollout-memory.ts'
import { ancestryKey } from './input/rollout-observation.ts'

const waiting = { health: 'Progressing', images: ['registry.example/shop:v1'] }
const later = { ...waiting, revision: aSha('d') }
const ancestries = new Map([[ancestryKey(commit, aSha('d')), { ancestry: 'descendant', atMs: 61_000 } as const]])
const outOfSync: Look = { ...waiting, atMs: 1_000, sync: 'OutOfSync' }
const synced: Look = { ...waiting, atMs: 2_000 }
const beingLookedUp: Look = { ...later, atMs: 60_000 }
const lookedUp: Look = { ...later, atMs: 61_000, seen: { ancestries } }

/** Seconds from acceptance to when each condition was first met, and since when it is in its state. */
function timesAfter(...looks: readonly Look[]) {
  const conditions = judge([beforeCommit, ...looks]).diagnosis?.conditions ?? []
  const seconds = (at: number | undefined) => (at === undefined ? undefined : at - 1_700_000_000)
  return Object.fromEntries(
    conditions.map(({ name, state, since, first_met: met }) => [
      name,
      { state, since: seconds(since), firstMet: seconds(met) },
    ]),
  )
}

test('a condition keeps the time at which it was first met, through the commit of another application', () => {
  const first = { revision: { firstMet: 1 }, synced: { firstMet: 2 } }
  expect(timesAfter(outOfSync, synced)).toMatchObject(first)
  const during = timesAfter(outOfSync, synced, beingLookedUp)
  expect(during).toMatchObject({ ...first, revision: { state: 'unknown', since: 60, firstMet: 1 } })
  const after = timesAfter(outOfSync, synced, beingLookedUp, lookedUp)
  expect(after).toMatchObject({ ...first, revision: { state: 'met', since: 61, firstMet: 1 } })
})

test('what is met from before the commit is first met when the conditions before it are', () => {
  const { alive, synced: sync, healthy } = timesAfter({ ...outOfSync, health: 'Healthy' })
  expect(alive).toMatchObject({ since: 0, firstMet: 1 })
  expect(sync).toMatchObject({ state: 'not_met', firstMet: undefined })
  expect(healthy).toMatchObject({ state: 'met', since: 0, firstMet: undefined })
})

test('nothing is first met while the commit is on its way', () => {
  const { memory } = judge([beforeCommit, synced], { writeBack: { kind: 'pending' } })
  expect([...memory.conditionSince.values()].filter(({ firstMetMs }) => firstMetMs !== undefined)).toEqual([])
})

test('a new owner restores it from the stored diagnosis', () => {
  const { diagnosis } = judge([beforeCommit, outOfSync, synced])
  const restored = storedConditionSince({ diagnosis, acceptedAtMs: -500_000, createdSeconds: 1_700_000_000 })
  expect(restored.get('synced')).toEqual({ state: 'met', sinceMs: -498_000, firstMetMs: -498_000 })
})
