import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anApplication } from '../../../test/support/application-builder.ts'
import { type ApplicationUpdate, type KnownApplication, mergeUpdate, nothingKnown } from './newest-snapshots.ts'

const seen = (version: number, uid = 'one', isComplete = true): ApplicationUpdate => ({
  kind: 'seen',
  application: anApplication({ version, uid }),
  isComplete,
})
const deleted = (version: number, uid = 'one'): ApplicationUpdate => ({
  kind: 'deleted',
  application: anApplication({ version, uid }),
})
const absent = (askedAtMs: number, version = 0): ApplicationUpdate => ({ kind: 'absent', askedAtMs, version })

const merge = (...updates: readonly ApplicationUpdate[]): KnownApplication =>
  updates.reduce((known, update, index) => mergeUpdate(known, update, index * 1_000), nothingKnown)

describe('the newest state of an application', () => {
  test.for([
    { name: 'an older version is ignored', updates: [seen(5), seen(3)], version: 5, isGone: false },
    { name: 'versions are numbers, not texts', updates: [seen(9), seen(10)], version: 10, isGone: false },
    {
      name: 'a deletion is final for its uid',
      updates: [seen(5), deleted(6), seen(5), seen(7)],
      version: 6,
      isGone: true,
    },
    {
      name: 'a new uid is a re-created application',
      updates: [seen(5), deleted(6), seen(8, 'two')],
      version: 8,
      isGone: false,
    },
    {
      name: 'a late deletion of the old uid changes nothing',
      updates: [seen(8, 'two'), deleted(6)],
      version: 8,
      isGone: false,
    },
    {
      name: 'an old incarnation from a lagging replica is ignored',
      updates: [seen(8, 'two'), seen(5)],
      version: 8,
      isGone: false,
    },
    { name: 'one List without it proves nothing', updates: [seen(5), absent(500)], version: 5, isGone: false },
    {
      name: 'two Lists without it mean gone',
      updates: [seen(5), absent(500), absent(1_500)],
      version: 5,
      isGone: true,
    },
    {
      name: 'a List asked before it was seen proves nothing',
      updates: [seen(5), absent(-1), absent(-1)],
      version: 5,
      isGone: false,
    },
    {
      name: 'a List from before its newest version proves nothing',
      updates: [seen(5), absent(500, 4), absent(1_500, 4)],
      version: 5,
      isGone: false,
    },
    {
      name: 'what comes back after missing Lists is there',
      updates: [seen(5), absent(500), absent(1_500), seen(5)],
      version: 5,
      isGone: false,
    },
    {
      name: 'a read that finds nothing means gone',
      updates: [seen(5), { kind: 'not_found' } as const],
      version: 5,
      isGone: true,
    },
  ])('$name', ({ updates, version, isGone }) => {
    expect(merge(...updates)).toMatchObject({ isGone, newest: { version } })
  })

  test('at the same version a complete update replaces that of a List, not the other way round', () => {
    const complete = merge(seen(5, 'one', true), seen(5, 'one', false)).newest
    const [first] = [seen(5, 'one', true)]
    expect(complete).toEqual(first?.kind === 'seen' ? first.application : undefined)
    expect(merge(seen(5, 'one', false), seen(5, 'one', true)).newest?.version).toBe(5)
  })

  test('the order of arrival does not matter', () => {
    const versions = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(versions, (all) => {
        expect(merge(...all.map((version) => seen(version))).newest?.version).toBe(Math.max(...all))
      }),
      { numRuns: 100 },
    )
  })
})

describe('what was read about an application holds while its state stays the same', () => {
  const first = { version: 5, health: 'Healthy' } as const
  test.for([
    { name: 'another comparison of the same', next: { version: 6, reconciledAt: '2026-11-21T16:00:00Z' }, from: 5 },
    { name: 'another health', next: { version: 6, health: 'Progressing' }, from: 6 },
    { name: 'another revision', next: { version: 6, revision: 'e'.repeat(40) }, from: 6 },
    { name: 'other images', next: { version: 6, images: ['registry.example/shop:v9'] }, from: 6 },
    { name: 'an operation', next: { version: 6, operationState: { phase: 'Running' } }, from: 6 },
    { name: 'a re-creation', next: { version: 6, uid: 'two' }, from: 6 },
  ])('after $name it holds from version $from on', ({ next, from }) => {
    const looks = [first, next].map((fields) => anApplication({ uid: 'one', ...fields }))
    const updates = looks.map((application) => ({ kind: 'seen', application, isComplete: true }) as const)
    expect(merge(...updates).unchangedSinceVersion).toBe(from)
  })
})
