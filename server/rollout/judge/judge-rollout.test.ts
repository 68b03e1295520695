import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ConditionName } from '../../../contract/conditions.ts'
import { type ApplicationFields, aRawApplication, aSha, repository } from '../../../test/support/application-builder.ts'
import {
  beforeCommit,
  commit,
  custom,
  failedOperation,
  judge,
  type Look,
  landed,
  pod,
  read,
  succeeded,
  tree,
} from '../../../test/support/judge-looks.ts'
import { parseApplication } from '../../argo-cd/parse/parse-application.ts'
import { ancestryKey, type RolloutObservation } from './input/rollout-observation.ts'

describe('a task with a commit of ours is deployed', () => {
  test('when every condition is met on the snapshot and on a direct read', () => {
    expect(judge([beforeCommit, { atMs: 1_000, operationState: succeeded }]).end).toMatchObject({ status: 'deployed' })
  })

  const closing: readonly (ApplicationFields & {
    condition: ConditionName
    when: string
    waits: string
    seen?: Partial<RolloutObservation>
  })[] = [
    {
      condition: 'alive',
      when: 'it is not',
      waits: 'deleted',
      metadata: { deletionTimestamp: '2026-11-21T15:00:09Z' },
    },
    {
      condition: 'no_errors',
      when: 'it is not',
      waits: 'Argo CD cannot render the manifests: bad',
      status: { conditions: [{ type: 'ComparisonError', message: 'bad' }] },
    },
    { condition: 'revision', when: 'old revision', waits: 'found aaaaaaa', revision: aSha('a') },
    { condition: 'revision', when: 'branch name instead of a commit', waits: 'found main', revision: 'main' },
    { condition: 'revision', when: 'ancestry unknown yet', waits: 'looked up', revision: aSha('d') },
    {
      condition: 'revision',
      when: 'ancestry denied',
      waits: 'found ddddddd',
      revision: aSha('d'),
      seen: { ancestries: new Map([[ancestryKey(commit, aSha('d')), { ancestry: 'unrelated', atMs: 0 }]]) },
    },
    {
      condition: 'revision',
      when: 'Git host does not answer',
      waits: 'an answered refresh',
      revision: aSha('d'),
      seen: { ancestries: new Map([[ancestryKey(commit, aSha('d')), { ancestry: 'unknown', atMs: 0 }]]) },
    },
    {
      condition: 'revision',
      when: 'no source follows',
      waits: 'a source that follows',
      spec: { source: { repoURL: 'https://git.example/other', targetRevision: 'main' } },
    },
    {
      condition: 'revision',
      when: 'pinned source',
      waits: 'a source that follows',
      spec: { source: { repoURL: repository, targetRevision: 'v1.2.3' } },
    },
    {
      condition: 'revision',
      when: 'too few revisions',
      waits: 'found none',
      spec: { sources: [{ repoURL: 'https://git.example/charts' }, { repoURL: repository, targetRevision: 'main' }] },
      status: { sync: { status: 'Synced', revisions: [commit] } },
    },
    { condition: 'synced', when: 'it is not', waits: 'found OutOfSync', sync: 'OutOfSync' },
    { condition: 'operation', when: 'requested', waits: 'no operation under way', operation: { sync: {} } },
    { condition: 'operation', when: 'running', waits: 'no operation under way', operationState: { phase: 'Running' } },
    {
      condition: 'operation',
      when: 'waiting for a retry',
      waits: 'no operation under way',
      operationState: { phase: 'Running', finishedAt: '2026-11-21T15:00:08Z' },
    },
    { condition: 'operation', when: 'failed', waits: 'it broke', operationState: failedOperation },
    {
      condition: 'compared_after_operation',
      when: 'it is not',
      waits: 'a later comparison',
      operationState: { ...succeeded, finishedAt: '2026-11-21T15:00:11Z' },
    },
    {
      condition: 'compared_after_operation',
      when: 'never compared',
      waits: 'a later comparison',
      operationState: succeeded,
      status: { reconciledAt: null },
    },
    { condition: 'healthy', when: 'it is not', waits: 'found Progressing', health: 'Progressing' },
    { condition: 'healthy', when: 'none', waits: 'found no status', status: { health: {} } },
    { condition: 'healthy', when: 'paused', waits: 'Suspended', health: 'Suspended' },
    {
      condition: 'images',
      when: 'it is not',
      waits: 'found registry.example/shop:v1',
      images: ['registry.example/shop:v1'],
    },
  ]
  test.for(closing)('but not while $condition is not met: $when', ({ condition, when: _, waits, ...fields }) => {
    const judgement = judge([beforeCommit, { atMs: 1_000, ...fields }])
    expect(judgement.end).toBeUndefined()
    expect(judgement.diagnosis?.conditions.find(({ name }) => name === condition)?.state).not.toBe('met')
    expect(judgement.progress).toContain(waits)
  })

  test('at a later commit of somebody else', () => {
    const ancestries = new Map([[ancestryKey(commit, aSha('d')), { ancestry: 'descendant' as const, atMs: 0 }]])
    expect(judge([beforeCommit, { atMs: 1_000, revision: aSha('d'), seen: { ancestries } }]).end?.status).toBe(
      'deployed',
    )
  })

  test('not by the cached state alone: without a direct read it asks for one', () => {
    const judgement = judge([beforeCommit, { atMs: 1_000, seen: { directRead: { askedAtMs: 500, result: 'read' } } }])
    expect(judgement).toMatchObject({ end: undefined, actions: [{ kind: 'read' }] })
  })

  test('not while a direct read is refused, which is tried again later and later', () => {
    const judgement = judge([
      beforeCommit,
      { atMs: 1_000, seen: { directRead: { askedAtMs: 1_000, result: 'missing' } } },
    ])
    expect(judgement).toMatchObject({ end: undefined, actions: [], againAtMs: 3_000 })
  })

  test('the pauses between refused reads end at the deadline, which is followed by a read every two seconds', () => {
    const refused = (atMs: number) => ({ atMs, seen: { directRead: { askedAtMs: atMs, result: 'missing' as const } } })
    const judgeBy60s = (looks: readonly Look[]) => judge(looks, { task: { deadlineMs: 60_000 } })
    const tried = [1_000, 3_000, 7_000, 15_000, 31_000, 58_000].map(refused)
    const looks = [beforeCommit, ...tried]
    expect(judgeBy60s(looks)).toMatchObject({ actions: [], againAtMs: 60_000 })
    const last = { ...refused(58_000), atMs: 60_000 }
    expect(judgeBy60s([...looks, last])).toMatchObject({ end: undefined, actions: [{ kind: 'read' }] })
    expect(judgeBy60s([...looks, refused(60_000)])).toMatchObject({ end: undefined, actions: [], againAtMs: 62_000 })
    expect(judgeBy60s([...looks, { atMs: 62_000, seen: { directRead: read(62_000) } }]).end?.status).toBe('deployed')
  })

  test('a paused application counts where the setting or the annotation says so', () => {
    expect(
      judge([beforeCommit, { atMs: 1_000, health: 'Suspended' }], { settings: { acceptSuspended: true } }).end?.status,
    ).toBe('deployed')
  })

  test('an old image that still runs keeps it waiting only in strict mode', () => {
    const images = ['registry.example/shop:v1', 'registry.example/shop:v2']
    const old = pod('Running', { images: ['registry.example/shop:v1'] })
    expect(judge([beforeCommit, { atMs: 1_000, images }]).end?.status).toBe('deployed')
    const strict = judge([beforeCommit, { atMs: 1_000, images, seen: { tree: tree([old], 900) } }], {
      settings: { isStrict: true },
    })
    expect(strict.end).toBeUndefined()
    expect(strict.progress).toContain('found Pod shop-1 with registry.example/shop:v1')
  })

  test('a requested image that only Pods of an earlier rollout still run does not count', () => {
    const images = ['registry.example/shop:v2', 'registry.example/shop:v3']
    const resources = [{ kind: 'Deployment', name: 'shop', status: 'Synced', images: ['registry.example/shop:v3'] }]
    const operationState = { ...succeeded, syncResult: { revision: commit, resources } }
    expect(judge([beforeCommit, { atMs: 1_000, images, operationState }]).progress).toContain(
      'only in Pods of an earlier rollout',
    )
  })
})

describe('how long the gates must stay open', () => {
  test.for([
    { name: 'our commit, Kubernetes kinds', fields: {}, writeBack: landed, ms: 0 },
    { name: 'our commit, a custom resource with health', fields: custom, writeBack: landed, ms: 5_000 },
  ])('$name: $ms ms', ({ fields, writeBack, ms }) => {
    const first = judge([beforeCommit, { atMs: 1_000, ...fields }], { writeBack })
    expect(first.end === undefined).toBe(ms > 0)
    if (ms === 0) return
    expect(first.againAtMs).toBe(1_000 + ms)
    expect(
      judge([beforeCommit, { atMs: 1_000, ...fields }, { atMs: 1_000 + ms - 1, ...fields }], { writeBack }).end,
    ).toBeUndefined()
    expect(
      judge([beforeCommit, { atMs: 1_000, ...fields }, { atMs: 1_000 + ms, ...fields }], { writeBack }).end?.status,
    ).toBe('deployed')
  })

  test('a gate that closes in between starts the time anew', () => {
    const flicker = [
      beforeCommit,
      { atMs: 1_000, ...custom },
      { atMs: 3_000, sync: 'OutOfSync' },
      { atMs: 4_000, ...custom },
      { atMs: 6_500, ...custom },
    ]
    expect(judge(flicker).end).toBeUndefined()
  })
})

describe('workloads without Pods', () => {
  const resources = [{ kind: 'CronJob', name: 'report', status: 'Synced', images: ['registry.example/shop:v2'] }]

  test('are judged by what the operation on our revision applied', () => {
    const operationState = { ...succeeded, syncResult: { revision: commit, resources } }
    expect(judge([beforeCommit, { atMs: 1_000, images: [], operationState }]).end).toMatchObject({
      status: 'deployed',
      reason: expect.stringContaining('manifests'),
    })
  })

  test('are judged by the live manifests where no operation was needed', () => {
    const look = { atMs: 1_000, images: [], version: 10 }
    expect(judge([beforeCommit, look]).actions).toContainEqual({ kind: 'managed_resources' })
    const managed = {
      askedAtMs: 900,
      version: 10,
      value: { liveImages: ['registry.example/shop:v2'], declaredImages: [], hasForeignKinds: false },
    }
    expect(judge([beforeCommit, { ...look, seen: { managed } }]).end?.status).toBe('deployed')
  })

  test('are looked at again soon when the manifests were read for an earlier snapshot', () => {
    const managed = { askedAtMs: 900, version: 9, value: undefined }
    const look = { images: [], version: 10, seen: { managed } }
    const looks = [beforeCommit, { ...look, atMs: 1_000 }]
    expect(judge(looks)).toMatchObject({ actions: [], againAtMs: 2_900 })
    expect(judge([...looks, { ...look, atMs: 2_900 }]).actions).toContainEqual({ kind: 'managed_resources' })
  })
})

describe('an operation on an older commit that ended in the second of the comparison', () => {
  const second = '2026-11-21T15:00:08Z'
  const older = { ...succeeded, syncResult: { revision: aSha('b') } }
  const unrelated = new Map([[ancestryKey(commit, aSha('b')), { ancestry: 'unrelated', atMs: 1_000 } as const]])
  const look = { atMs: 1_000, reconciledAt: second, operationState: older, seen: { ancestries: unrelated } }

  test('may have undone what the comparison saw, so another comparison is waited for', () => {
    expect(judge([beforeCommit, look]).end).toBeUndefined()
    expect(judge([beforeCommit, { ...look, reconciledAt: '2026-11-21T15:00:09Z' }]).end?.status).toBe('deployed')
  })

  test('does no harm where it held our commit', () => {
    const later = new Map([[ancestryKey(commit, aSha('b')), { ancestry: 'descendant', atMs: 1_000 } as const]])
    expect(judge([beforeCommit, { ...look, seen: { ancestries: later } }]).end?.status).toBe('deployed')
  })
})

test('an Application that is broken anywhere never throws and is deployed only if all of it is there', () => {
  const places = [
    'status.sync.status',
    'status.sync.revision',
    'status.health.status',
    'status.summary.images',
    'status.reconciledAt',
    'spec.source',
    'status.operationState',
    'metadata.deletionTimestamp',
    'status.conditions',
    'operation',
  ]
  const junk = fc.oneof(fc.constantFrom<unknown>(null, '', 0, [], {}, true, 'x', [null], { phase: 7 }), fc.anything())
  fc.assert(
    fc.property(fc.constantFrom(...places), junk, (place, value) => {
      const raw = mutated(aRawApplication({ operationState: succeeded }), place.split('.'), value)
      const end = judge([beforeCommit, { atMs: 1_000, raw }]).end
      const application = parseApplication(raw)
      const isTrue =
        application?.syncStatus === 'Synced' &&
        application.healthStatus === 'Healthy' &&
        application.images.includes('registry.example/shop:v2') &&
        application.revisions[0] === commit &&
        !application.isOperationRequested
      if (!isTrue) expect(end?.status).not.toBe('deployed')
    }),
    { numRuns: 500 },
  )
})

function mutated(value: unknown, [key, ...rest]: readonly string[], junk: unknown): unknown {
  if (key === undefined) return junk
  const inner = typeof value === 'object' && value !== null && key in value ? Reflect.get(value, key) : undefined
  return { ...(typeof value === 'object' ? value : {}), [key]: mutated(inner, rest, junk) }
}
