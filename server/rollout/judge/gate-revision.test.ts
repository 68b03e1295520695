import { describe, expect, test } from 'vitest'
import { anApplication, aSha, repository } from '../../../test/support/application-builder.ts'
import { aGateContext } from '../../../test/support/rollout-builder.ts'
import { gateOperationOver, gateRevision } from './gate-revision.ts'
import type { GateContext } from './gates.ts'
import { relationKey } from './rollout-observation.ts'

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
function aContext({ revision, hydrator, failedAt }: Seen): GateContext {
  const drySource = { repoURL: repository, path: 'deploy/shop', targetRevision: 'main' }
  const application = anApplication({
    revision,
    spec: { sourceHydrator: { drySource, syncSource: { targetBranch: 'production', path: 'shop' } } },
    status: { sourceHydrator: hydrator },
    ...(failedAt === undefined
      ? {}
      : { operationState: { phase: 'Failed', startedAt: '2026-11-21T15:00:00Z', syncResult: { revision: failedAt } } }),
  })
  const descendant = { relation: 'descendant', atMs: 0 } as const
  const relations = new Map([
    [relationKey(dry, laterDry), descendant],
    [relationKey(hydrated, laterHydrated), descendant],
  ])
  return aGateContext(application, {
    commit: { commit: dry, repository, branch: 'main', isNew: true },
    observation: { relations, tree: undefined, managed: undefined },
  })
}

const done = (drySHA: string, hydratedSHA: string) => ({ lastSuccessfulOperation: { drySHA, hydratedSHA } })

describe('gate R of an application that a hydrator writes', () => {
  test.for([
    { what: 'our commit and its hydrated one', revision: hydrated, hydrator: done(dry, hydrated), isOpen: true },
    { what: 'a later dry commit', revision: hydrated, hydrator: done(laterDry, hydrated), isOpen: true },
    { what: 'a commit of others on top', revision: laterHydrated, hydrator: done(dry, hydrated), isOpen: true },
    { what: 'hydrated, but not compared yet', revision: old, hydrator: done(dry, hydrated), isOpen: false },
    { what: 'an older hydration', revision: hydrated, hydrator: done(old, hydrated), isOpen: false },
    { what: 'no hydration at all', revision: hydrated, hydrator: {}, isOpen: false },
    {
      what: 'a comparison that found nothing new',
      revision: old,
      hydrator: { lastComparedDryRevision: dry },
      isOpen: true,
    },
    {
      what: 'a comparison while a hydration runs',
      revision: old,
      hydrator: { lastComparedDryRevision: dry, currentOperation: { phase: 'Hydrating' } },
      isOpen: false,
    },
    {
      what: 'a hydration that failed',
      revision: hydrated,
      hydrator: { ...done(dry, hydrated), currentOperation: { phase: 'Failed', message: 'no space' } },
      isOpen: false,
    },
  ])('$what: open is $isOpen', ({ isOpen, ...seen }) => expect(gateRevision(aContext(seen)).isOpen).toBe(isOpen))
})

test.for([
  { what: 'at its hydrated commit', failedAt: hydrated, isOpen: false },
  { what: 'at a later commit of the sync branch', failedAt: laterHydrated, isOpen: false },
  { what: 'at an older one', failedAt: old, isOpen: true },
])('gate O of a hydrated application whose sync failed $what: open is $isOpen', ({ failedAt, isOpen }) => {
  const context = aContext({ revision: hydrated, hydrator: done(dry, hydrated), failedAt })
  expect(gateOperationOver(context).isOpen).toBe(isOpen)
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
  const gateAt = (version: number, fields: Partial<GateContext> = {}) =>
    gateRevision(aGateContext(anApplication({ version, revision: old }), { baseline, ...fields })).isOpen

  test('decides for what is shown since', () => expect([gateAt(20), gateAt(21)]).toEqual([true, true]))

  test('says nothing of what was shown before', () => expect(gateAt(19)).toBe(false))

  test('says nothing of a commit of ours that was made since', () => {
    const commit = { commit: dry, repository, branch: 'main', isNew: true }
    const relations = new Map([[relationKey(dry, laterDry), { relation: 'unknown', atMs: 0 } as const]])
    const application = anApplication({ version: 30, revision: laterDry })
    const { observation } = aGateContext(application)
    const context = aGateContext(application, { baseline, commit, observation: { ...observation, relations } })
    expect(gateRevision(context)).toMatchObject({ isOpen: false, reason: 'a refresh to be answered' })
  })
})
