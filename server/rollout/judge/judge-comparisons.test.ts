import { describe, expect, test } from 'vitest'
import { aSha } from '../../../test/support/application-builder.ts'
import {
  beforeCommit,
  commit,
  judge,
  type Look,
  monitored,
  read,
  succeeded,
} from '../../../test/support/judge-looks.ts'
import { ancestryKey, nothingRefreshed } from './input/rollout-observation.ts'

describe('a task without a commit of ours', () => {
  const answered = (beganAfterMs: number | undefined, version: number) => ({
    ...nothingRefreshed,
    answered: { beganAfterMs, version },
    lastAskedAtMs: 1,
  })
  const start: Look = { atMs: 0, version: 5 }
  const clear = { refresh: { ...nothingRefreshed, refreshIdleAtMs: 0 } }

  test('asks for a refresh at once when none is under way, and believes nothing before it is answered', () => {
    const judgement = judge([{ ...start, seen: clear }], { writeBack: monitored })
    expect(judgement).toMatchObject({ end: undefined, actions: [{ kind: 'refresh' }] })
  })

  test.for([
    { name: 'looks directly whether one is under way', seen: { directRead: undefined }, actions: ['read'] },
    { name: 'looks again after 5 s', atMs: 5_000, seen: { directRead: read(0) }, actions: ['read'] },
    { name: 'asks all the same after 10 s', atMs: 10_000, seen: { directRead: read(9_000) }, actions: ['refresh'] },
    {
      name: 'asks again, 5 s after one that proved nothing, as soon as none is under way',
      atMs: 16_000,
      seen: { refresh: { ...answered(undefined, 5), refreshIdleAtMs: 15_000, lastAskedAtMs: 11_000 } },
      actions: ['refresh'],
    },
  ])('of which it is not known whether another refresh is under way $name', ({ actions, atMs, seen }) => {
    const looks: readonly Look[] = [start, { ...start, atMs: atMs ?? 1, seen }]
    expect(judge(looks, { writeBack: monitored }).actions.map(({ kind }) => kind)).toEqual(actions)
  })

  test.for([undefined, -1])(
    'a refresh that may have begun before its acceptance proves nothing (%s)',
    (beganAfterMs) => {
      const seen = { refresh: answered(beganAfterMs, 7) }
      const looks: readonly Look[] = [start, { atMs: 1_000, version: 7, seen }, { atMs: 9_000, version: 7, seen }]
      expect(judge(looks, { writeBack: monitored })).toMatchObject({
        end: undefined,
        progress: expect.stringContaining('an answered refresh'),
      })
    },
  )

  test.for([
    { is: 'follows a read where the end of the last one is unknown', readAtMs: 1_000, actions: ['read'] },
    { is: 'is asked at once where a read came after the last one', readAtMs: 3_000, actions: ['refresh'] },
  ])('the next refresh $is', ({ readAtMs, actions }) => {
    const pending = { beganAfterMs: 0, isSeen: false, acceptedAtMs: 2_000 }
    const refresh = { ...nothingRefreshed, refreshIdleAtMs: 0, lastAskedAtMs: 0, pending }
    const looks: readonly Look[] = [start, { ...start, atMs: 5_000, seen: { refresh, directRead: read(readAtMs) } }]
    expect(judge(looks, { writeBack: monitored }).actions.map(({ kind }) => kind)).toEqual(actions)
  })

  test('is what a task with a commit becomes while the history of the repository cannot be read', () => {
    const ancestries = new Map([[ancestryKey(commit, aSha('d')), { ancestry: 'unknown' as const, atMs: 0 }]])
    const unread = { revision: aSha('d'), seen: { ancestries, directRead: read(0) } }
    const looks = [beforeCommit, { ...unread, atMs: 6_000 }]
    expect(judge(looks).actions).toContainEqual({ kind: 'read' })
  })

  test('is deployed after an answered refresh and two seconds, and says what decided', () => {
    const seen = { refresh: answered(1, 7) }
    const looks: readonly Look[] = [start, { atMs: 1_000, version: 7, seen }, { atMs: 3_000, version: 7, seen }]
    expect(judge(looks, { writeBack: monitored }).end).toMatchObject({
      status: 'deployed',
      reason: expect.stringContaining('refresh'),
    })
    expect(judge(looks.slice(0, 2), { writeBack: monitored }).end).toBeUndefined()
  })

  test('a snapshot from before the answer does not count', () => {
    const looks: readonly Look[] = [
      start,
      { atMs: 3_000, version: 6, seen: { refresh: answered(1, 7) } },
      { atMs: 9_000, version: 6, seen: { refresh: answered(1, 7) } },
    ]
    expect(judge(looks, { writeBack: monitored }).end).toBeUndefined()
  })

  test.for([
    { name: 'the revision moved', looks: [{ version: 7, revision: aSha('d') }], is: 'deployed' },
    {
      name: 'a later comparison of the same revision',
      looks: [{ version: 7, reconciledAt: '2026-11-21T15:00:20Z' }],
      is: undefined,
    },
    {
      name: 'two later comparisons',
      looks: [
        { version: 7, reconciledAt: '2026-11-21T15:00:20Z' },
        { version: 8, reconciledAt: '2026-11-21T15:00:30Z' },
      ],
      is: 'deployed',
    },
    { name: 'only Pods changed', looks: [{ version: 7 }, { version: 8 }], is: undefined },
  ])('where no refresh may be asked: $name: $is', ({ looks, is }) => {
    const all = [start, ...looks, ...looks.slice(-1)].map((look, index) => ({ ...look, atMs: index * 3_000 }))
    expect(judge(all, { writeBack: monitored, task: { refresh: false } }).end?.status).toBe(is)
  })
})

test('without refreshes a revision that moved meets the condition revision where its ancestry is unknown', () => {
  const ancestries = new Map([[ancestryKey(commit, aSha('d')), { ancestry: 'unknown', atMs: 1_000 } as const]])
  const ofOthers = { revision: aSha('d'), reconciledAt: '2026-11-21T15:00:09Z', operationState: succeeded }
  const judgement = judge([beforeCommit, { atMs: 1_000, ...ofOthers, seen: { ancestries } }], {
    task: { refresh: false },
  })
  expect(judgement.end).toMatchObject({
    status: 'deployed',
    reason: expect.stringMatching(/history .* could not be read/),
  })
})

test('once our commit was seen, a later comparison counts though nobody can tell its ancestry', () => {
  const ancestries = new Map([[ancestryKey(commit, aSha('d')), { ancestry: 'unknown', atMs: 1_000 } as const]])
  const ours: Look = { atMs: 1_000, version: 2, revision: commit, health: 'Progressing' }
  const ofOthers: Look = { atMs: 9_000, version: 3, revision: aSha('d'), seen: { ancestries } }
  expect(judge([beforeCommit, ours, ofOthers]).end?.status).toBe('deployed')
  expect(judge([beforeCommit, ofOthers]).end).toBeUndefined()
})

test.for([
  { is: 'read for', atMs: 15_000, actions: [{ kind: 'read' }] },
  { is: 'waited for', atMs: 14_999, actions: [] },
])('a refresh after our commit whose end was not seen is $is after $atMs ms', ({ atMs, actions }) => {
  const pending = { beganAfterMs: undefined, isSeen: false, acceptedAtMs: 0 }
  const refresh = { ...nothingRefreshed, lastAskedAtMs: 0, pending }
  const asked = { refresh, directRead: read(0) }
  const judgement = judge([
    beforeCommit,
    { ...beforeCommit, atMs: 1, seen: asked },
    { ...beforeCommit, atMs, seen: asked },
  ])
  expect(judgement.actions.filter(({ kind }) => kind === 'read')).toEqual(actions)
})
