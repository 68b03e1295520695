import { describe, expect, test } from 'vitest'
import { anApplication, aSha, repository } from '../../../../test/support/application-builder.ts'
import { aSnapshot } from '../../../../test/support/rollout-builder.ts'
import type { JudgeInput } from '../input/judge-input.ts'
import { ancestryKey } from '../input/rollout-observation.ts'
import { judgeOperation, judgeRevision } from './revision-condition.ts'

const [dry, laterDry, hydrated, laterHydrated, old] = ['c', 'd', '1', '2', '0'].map(aSha) as [
  string,
  string,
  string,
  string,
  string,
]

type Seen = {
  readonly revision: string
  readonly hydrator: object
  readonly failedAt?: string
}

/** Our dry commit is `c`; what is known of the repository: `d` comes after `c`, and `2` after `1`. */
function aHydrated({ revision, hydrator, failedAt }: Seen): JudgeInput {
  const drySource = { repoURL: repository, path: 'deploy/shop', targetRevision: 'main' }
  const application = anApplication({
    revision,
    spec: { sourceHydrator: { drySource, syncSource: { targetBranch: 'production', path: 'shop' } } },
    status: { sourceHydrator: hydrator },
    ...(failedAt === undefined
      ? {}
      : { operationState: { phase: 'Failed', startedAt: '2026-11-21T15:00:00Z', syncResult: { revision: failedAt } } }),
  })
  const descendant = { ancestry: 'descendant', atMs: 0 } as const
  const ancestries = new Map([
    [ancestryKey(dry, laterDry), descendant],
    [ancestryKey(hydrated, laterHydrated), descendant],
  ])
  return aSnapshot(application, {
    commit: { commit: dry, repository, branch: 'main', isNew: true },
    observation: { ancestries },
  })
}

const done = (drySHA: string, hydratedSHA: string) => ({ lastSuccessfulOperation: { drySHA, hydratedSHA } })

describe('the revision of an application that a hydrator writes', () => {
  test.for([
    { what: 'our commit and its hydrated one', revision: hydrated, hydrator: done(dry, hydrated), isMet: true },
    { what: 'a later dry commit', revision: hydrated, hydrator: done(laterDry, hydrated), isMet: true },
    { what: 'a commit of others on top', revision: laterHydrated, hydrator: done(dry, hydrated), isMet: true },
    { what: 'hydrated, but not compared yet', revision: old, hydrator: done(dry, hydrated), isMet: false },
    { what: 'an older hydration', revision: hydrated, hydrator: done(old, hydrated), isMet: false },
    { what: 'no hydration at all', revision: hydrated, hydrator: {}, isMet: false },
    {
      what: 'a comparison that found nothing new',
      revision: old,
      hydrator: { lastComparedDryRevision: dry },
      isMet: true,
    },
    {
      what: 'a comparison while a hydration runs',
      revision: old,
      hydrator: { lastComparedDryRevision: dry, currentOperation: { phase: 'Hydrating' } },
      isMet: false,
    },
    {
      what: 'a hydration that failed',
      revision: hydrated,
      hydrator: { ...done(dry, hydrated), currentOperation: { phase: 'Failed', message: 'no space' } },
      isMet: false,
    },
  ])('$what: met is $isMet', ({ isMet, ...seen }) => expect(judgeRevision(aHydrated(seen)).state === 'met').toBe(isMet))
})

test.for([
  { what: 'at its hydrated commit', failedAt: hydrated, isMet: false },
  { what: 'at a later commit of the sync branch', failedAt: laterHydrated, isMet: false },
  { what: 'at an older one', failedAt: old, isMet: true },
])('the operation of a hydrated application whose sync failed $what: met is $isMet', ({ failedAt, isMet }) => {
  const snapshot = aHydrated({ revision: hydrated, hydrator: done(dry, hydrated), failedAt })
  expect(judgeOperation(snapshot).state === 'met').toBe(isMet)
})

describe('a refresh that an earlier owner of the task was answered with version 20', () => {
  const baseline = {
    uid: 'uid-1',
    version: 10,
    revisions: [old],
    reconciledAtMs: 0,
    images: [],
    operation: undefined,
    isBeforeCommit: true,
    comparedVersion: 20,
  }
  const isMetAt = (version: number) =>
    judgeRevision(aSnapshot(anApplication({ version, revision: old }), { baseline })).state === 'met'

  test('decides for what is shown since', () => expect([isMetAt(20), isMetAt(21)]).toEqual([true, true]))

  test('says nothing of what was shown before', () => expect(isMetAt(19)).toBe(false))

  test('says nothing of a commit of ours that was made since', () => {
    const commit = { commit: dry, repository, branch: 'main', isNew: true }
    const ancestries = new Map([[ancestryKey(dry, laterDry), { ancestry: 'unknown', atMs: 0 } as const]])
    const application = anApplication({ version: 30, revision: laterDry })
    const snapshot = aSnapshot(application, { baseline, commit, observation: { ancestries } })
    expect(judgeRevision(snapshot)).toMatchObject({ state: 'not_met', expected: 'an answered refresh' })
  })
})
