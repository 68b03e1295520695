import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ApplicationFields,
  anApplication,
  aRawApplication,
  aSha,
  repository,
} from '../../test/support/application-builder.ts'
import { noAnnotations } from '../../test/support/rollout-builder.ts'
import { defaultRolloutSettings } from '../../test/support/rollout-settings.ts'
import { judgeRollout } from './judge-rollout.ts'
import type { Judgement } from './judgement.ts'
import { nothingKnown } from './newest-snapshots.ts'
import { parseApplication } from './observed-application.ts'
import { parseResourceTree, type ResourceTree } from './resource-tree.ts'
import { startMemory } from './rollout-memory.ts'
import { nothingRefreshed, type Reading, type RolloutObservation, relationKey } from './rollout-observation.ts'
import type { RolloutSettings } from './rollout-settings.ts'
import type { WriteBackState } from './watched-task.ts'

const settings = defaultRolloutSettings

const commit = aSha('c')
const landed: WriteBackState = {
  kind: 'ended',
  outcome: { kind: 'landed', commit, repository, branch: 'main' },
  atMs: 0,
}
const monitored: WriteBackState = { kind: 'monitor', why: 'not_managed', note: '' }

type Look = ApplicationFields & {
  readonly atMs: number
  readonly seen?: Partial<RolloutObservation>
  readonly raw?: unknown
}
type Setting = {
  readonly task?: { refresh?: boolean; deadlineMs?: number; isOverdue?: boolean; tag?: string; image?: string }
  readonly settings?: Partial<RolloutSettings>
  readonly writeBack?: WriteBackState
}

const beforeCommit: Look = {
  atMs: 0,
  version: 1,
  revision: aSha('a'),
  images: ['registry.example/shop:v1'],
  reconciledAt: '2026-11-21T15:00:00Z',
}

/** Judges one look after the other; each has a direct read that was just answered. */
function judge(
  looks: readonly Look[],
  { task = {}, settings: changed = {}, writeBack = landed }: Setting = {},
): Judgement {
  const judged = {
    images: [{ image: task.image ?? 'registry.example/shop', tag: task.tag ?? 'v2' }],
    refresh: task.refresh ?? true,
    deadlineMs: task.deadlineMs ?? 900_000,
    isOverdue: task.isOverdue ?? false,
  }
  let memory = startMemory(undefined, 0)
  let last: Judgement | undefined
  for (const [index, look] of looks.entries()) {
    const isFirst = index === 0 && looks.length > 1
    const application = look.raw === undefined ? anApplication(look) : parseApplication(look.raw)
    const observation: RolloutObservation = {
      known: { ...nothingKnown, newest: application, seenAtMs: look.atMs },
      annotations: noAnnotations,
      writeBack: isFirst && writeBack === landed ? { kind: 'pending' } : writeBack,
      refresh: nothingRefreshed,
      directRead: { askedAtMs: look.atMs, result: 'read' },
      lastListAtMs: undefined,
      relations: new Map(),
      overrides: new Map(),
      tree: undefined,
      managed: undefined,
      windows: undefined,
      podEvents: undefined,
      unreachable: undefined,
      ...look.seen,
    }
    last = judgeRollout(judged, memory, observation, look.atMs, { ...settings, ...changed })
    memory = last.memory
  }
  if (last === undefined) throw new Error('nothing to judge')
  return last
}

const succeeded = {
  phase: 'Succeeded',
  startedAt: '2026-11-21T15:00:05Z',
  finishedAt: '2026-11-21T15:00:08Z',
  syncResult: { revision: commit },
}
const failedOperation = {
  phase: 'Failed',
  message: 'it broke',
  startedAt: '2026-11-21T15:00:05Z',
  finishedAt: '2026-11-21T15:00:08Z',
  operation: { sync: { revision: commit } },
}
const read = (askedAtMs: number) => ({ askedAtMs, result: 'read' as const })
const tree = (pods: readonly object[], askedAtMs: number): Reading<ResourceTree> => ({
  askedAtMs,
  version: 10,
  value: parseResourceTree({ nodes: pods }),
})
const pod = (reason: string, more: object = {}) => ({
  kind: 'Pod',
  name: 'shop-1',
  uid: 'p1',
  images: ['registry.example/shop:v2'],
  info: [{ name: 'Status Reason', value: reason }],
  health: { status: reason === 'Running' ? 'Healthy' : 'Degraded', message: 'why' },
  createdAt: '2026-11-21T15:00:06Z',
  ...more,
})
const custom = {
  status: { resources: [{ group: 'db.example', kind: 'Database', name: 'db', health: { status: 'Healthy' } }] },
}

describe('a task with a commit of ours is deployed', () => {
  test('when every gate is open on the snapshot and on a direct read', () => {
    expect(judge([beforeCommit, { atMs: 1_000, operationState: succeeded }]).end).toEqual({ status: 'deployed' })
  })

  const closing: readonly (ApplicationFields & { gate: string; waits: string; seen?: Partial<RolloutObservation> })[] =
    [
      { gate: 'D', waits: 'gone', metadata: { deletionTimestamp: '2026-11-21T15:00:09Z' } },
      {
        gate: 'N',
        waits: 'ComparisonError: bad',
        status: { conditions: [{ type: 'ComparisonError', message: 'bad' }] },
      },
      { gate: 'R, old revision', waits: 'not aaaaaaa', revision: aSha('a') },
      { gate: 'R, branch name instead of a commit', waits: 'not main', revision: 'main' },
      { gate: 'R, ancestry unknown yet', waits: 'looked up', revision: aSha('d') },
      {
        gate: 'R, ancestry denied',
        waits: 'not ddddddd',
        revision: aSha('d'),
        seen: { relations: new Map([[relationKey(commit, aSha('d')), { relation: 'unrelated', atMs: 0 }]]) },
      },
      {
        gate: 'R, Git host does not answer',
        waits: 'a refresh to be answered',
        revision: aSha('d'),
        seen: { relations: new Map([[relationKey(commit, aSha('d')), { relation: 'unknown', atMs: 0 }]]) },
      },
      {
        gate: 'R, no source follows',
        waits: 'a source that follows',
        spec: { source: { repoURL: 'https://git.example/other', targetRevision: 'main' } },
      },
      {
        gate: 'R, pinned source',
        waits: 'a source that follows',
        spec: { source: { repoURL: repository, targetRevision: 'v1.2.3' } },
      },
      {
        gate: 'R, too few revisions',
        waits: 'not none',
        spec: { sources: [{ repoURL: 'https://git.example/charts' }, { repoURL: repository, targetRevision: 'main' }] },
        status: { sync: { status: 'Synced', revisions: [commit] } },
      },
      { gate: 'S', waits: 'not OutOfSync', sync: 'OutOfSync' },
      { gate: 'O, requested', waits: 'end of the operation', operation: { sync: {} } },
      { gate: 'O, running', waits: 'end of the operation', operationState: { phase: 'Running' } },
      {
        gate: 'O, waiting for a retry',
        waits: 'end of the operation',
        operationState: { phase: 'Running', finishedAt: '2026-11-21T15:00:08Z', retryCount: 1 },
      },
      { gate: 'O, failed', waits: 'a successful operation', operationState: failedOperation },
      {
        gate: 'P',
        waits: 'a comparison after the operation',
        operationState: { ...succeeded, finishedAt: '2026-11-21T15:00:11Z' },
      },
      {
        gate: 'P, never compared',
        waits: 'a comparison after the operation',
        operationState: succeeded,
        status: { reconciledAt: null },
      },
      { gate: 'H', waits: 'not Progressing', health: 'Progressing' },
      { gate: 'H, none', waits: 'not none', status: { health: {} } },
      { gate: 'H, paused', waits: 'Suspended', health: 'Suspended' },
      { gate: 'I', waits: 'running: registry.example/shop:v1', images: ['registry.example/shop:v1'] },
    ]
  test.for(closing)('but not while gate $gate is closed', ({ gate: _, waits, ...fields }) => {
    const judgement = judge([beforeCommit, { atMs: 1_000, ...fields }])
    expect(judgement.end).toBeUndefined()
    expect(judgement.progress).toContain(waits)
  })

  test('at a later commit of somebody else', () => {
    const relations = new Map([[relationKey(commit, aSha('d')), { relation: 'descendant' as const, atMs: 0 }]])
    expect(judge([beforeCommit, { atMs: 1_000, revision: aSha('d'), seen: { relations } }]).end?.status).toBe(
      'deployed',
    )
  })

  test('not by the cached state alone: without a direct read it asks for one', () => {
    const judgement = judge([beforeCommit, { atMs: 1_000, seen: { directRead: { askedAtMs: 500, result: 'read' } } }])
    expect(judgement).toMatchObject({ end: undefined, wanted: [{ kind: 'read' }] })
  })

  test('not while a direct read is refused, which is tried again later and later', () => {
    const judgement = judge([
      beforeCommit,
      { atMs: 1_000, seen: { directRead: { askedAtMs: 1_000, result: 'missing' } } },
    ])
    expect(judgement).toMatchObject({ end: undefined, wanted: [], againAtMs: 3_000 })
  })

  test('the pauses between refused reads end at the deadline, which is followed by a read every two seconds', () => {
    const refused = (atMs: number) => ({ atMs, seen: { directRead: { askedAtMs: atMs, result: 'missing' as const } } })
    const judgeBy60s = (looks: readonly Look[]) => judge(looks, { task: { deadlineMs: 60_000 } })
    const tried = [1_000, 3_000, 7_000, 15_000, 31_000, 58_000].map(refused)
    const looks = [beforeCommit, ...tried]
    expect(judgeBy60s(looks)).toMatchObject({ wanted: [], againAtMs: 60_000 })
    const last = { ...refused(58_000), atMs: 60_000 }
    expect(judgeBy60s([...looks, last])).toMatchObject({ end: undefined, wanted: [{ kind: 'read' }] })
    expect(judgeBy60s([...looks, refused(60_000)])).toMatchObject({ end: undefined, wanted: [], againAtMs: 62_000 })
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
    expect(strict.progress).toContain('the end of Pod shop-1')
  })

  test('a wanted image that only Pods of an earlier rollout still run does not count', () => {
    const images = ['registry.example/shop:v2', 'registry.example/shop:v3']
    const resources = [{ kind: 'Deployment', name: 'shop', status: 'Synced', images: ['registry.example/shop:v3'] }]
    const operationState = { ...succeeded, syncResult: { revision: commit, resources } }
    expect(judge([beforeCommit, { atMs: 1_000, images, operationState }]).progress).toContain('only old Pods run')
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

describe('a task without a commit of ours', () => {
  const answered = (beganAfterMs: number | undefined, version: number) => ({
    ...nothingRefreshed,
    answered: { beganAfterMs, version },
    lastAskedAtMs: 1,
  })
  const start: Look = { atMs: 0, version: 5 }
  const clear = { refresh: { ...nothingRefreshed, clearAtMs: 0 } }

  test('asks for a refresh at once when none is under way, and believes nothing before it is answered', () => {
    const judgement = judge([{ ...start, seen: clear }], { writeBack: monitored })
    expect(judgement).toMatchObject({ end: undefined, wanted: [{ kind: 'refresh' }] })
  })

  test.for([
    { name: 'looks directly whether one is under way', seen: { directRead: undefined }, wanted: ['read'] },
    { name: 'looks again after 5 s', atMs: 5_000, seen: { directRead: read(0) }, wanted: ['read'] },
    { name: 'asks all the same after 10 s', atMs: 10_000, seen: { directRead: read(9_000) }, wanted: ['refresh'] },
    {
      name: 'asks again, 5 s after one that proved nothing, as soon as none is under way',
      atMs: 16_000,
      seen: { refresh: { ...answered(undefined, 5), clearAtMs: 15_000, lastAskedAtMs: 11_000 } },
      wanted: ['refresh'],
    },
  ])('of which it is not known whether another refresh is under way $name (§6.2 R(b))', ({ wanted, atMs, seen }) => {
    const looks: readonly Look[] = [start, { ...start, atMs: atMs ?? 1, seen }]
    expect(judge(looks, { writeBack: monitored }).wanted.map(({ kind }) => kind)).toEqual(wanted)
  })

  test.for([undefined, -1])(
    'a refresh that may have begun before its acceptance proves nothing (%s)',
    (beganAfterMs) => {
      const seen = { refresh: answered(beganAfterMs, 7) }
      const looks: readonly Look[] = [start, { atMs: 1_000, version: 7, seen }, { atMs: 9_000, version: 7, seen }]
      expect(judge(looks, { writeBack: monitored })).toMatchObject({
        end: undefined,
        progress: expect.stringContaining('a refresh to be answered'),
      })
    },
  )

  test('is what a task with a commit becomes while the history of the repository cannot be read', () => {
    const relations = new Map([[relationKey(commit, aSha('d')), { relation: 'unknown' as const, atMs: 0 }]])
    const unread = { revision: aSha('d'), seen: { relations, directRead: read(0) } }
    const looks = [beforeCommit, { ...unread, atMs: 6_000 }]
    expect(judge(looks).wanted).toContainEqual({ kind: 'read' })
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

describe('a rollout that cannot succeed ends the task', () => {
  test.for([
    {
      name: 'a failed sync',
      fields: { sync: 'OutOfSync', operationState: failedOperation },
      afterMs: 15_000,
      cause: 'sync_error',
    },
    {
      name: 'a terminated sync',
      fields: { operationState: { ...failedOperation, message: 'Operation terminated' } },
      afterMs: 15_000,
      cause: 'terminated',
    },
    {
      name: 'a failed hook although all is synced and healthy',
      fields: {
        operationState: {
          ...failedOperation,
          syncResult: {
            revision: commit,
            resources: [
              {
                kind: 'Job',
                name: 'smoke',
                status: 'Synced',
                hookType: 'PostSync',
                hookPhase: 'Failed',
                message: 'exit 1',
              },
            ],
          },
        },
      },
      afterMs: 15_000,
      cause: 'hook_failed',
    },
    {
      name: 'automated sync that gave up',
      fields: {
        sync: 'OutOfSync',
        status: {
          sync: { status: 'OutOfSync', revision: commit },
          conditions: [{ type: 'SyncError', message: 'wipe out' }],
        },
      },
      afterMs: 15_000,
      cause: 'auto_sync_stopped',
    },
    { name: 'degraded at our revision', fields: { health: 'Degraded' }, afterMs: 60_000, cause: 'degraded' },
    {
      name: 'a comparison error',
      fields: {
        revision: 'main',
        sync: 'Unknown',
        status: { conditions: [{ type: 'ComparisonError', message: 'bad' }] },
      },
      afterMs: 120_000,
      cause: 'comparison_error',
    },
  ])('$name, after its grace of $afterMs ms', ({ fields, afterMs, cause }) => {
    const first = { atMs: 1_000, ...fields }
    expect(judge([beforeCommit, first, { ...first, atMs: 1_000 + afterMs - 1 }]).end).toBeUndefined()
    expect(judge([beforeCommit, first, { ...first, atMs: 1_000 + afterMs }]).end).toMatchObject({
      status: 'failed',
      cause,
    })
  })

  test.for([
    {
      name: 'a failed sync of an older commit',
      fields: {
        operationState: { ...failedOperation, operation: { sync: { revision: aSha('a') } } },
        sync: 'OutOfSync',
        revision: aSha('a'),
      },
    },
    { name: 'degraded at an older revision', fields: { health: 'Degraded', revision: aSha('a') } },
    { name: 'degraded while an operation runs', fields: { health: 'Degraded', operationState: { phase: 'Running' } } },
    {
      name: 'a plain resource whose phase says Running',
      fields: {
        health: 'Progressing',
        operationState: {
          ...succeeded,
          syncResult: { revision: commit, resources: [{ kind: 'Service', hookPhase: 'Running' }] },
        },
      },
    },
    {
      name: 'retries that go on',
      fields: {
        sync: 'OutOfSync',
        operationState: { phase: 'Running', retryCount: 3, finishedAt: '2026-11-21T15:00:08Z' },
      },
    },
  ])('$name does not', ({ fields }) => {
    expect(judge([beforeCommit, { atMs: 1_000, ...fields }, { atMs: 400_000, ...fields }]).end).toBeUndefined()
  })

  test('not while its own commit is still on the way', () => {
    const bad = { atMs: 1_000, health: 'Degraded', operationState: failedOperation, revision: commit }
    expect(judge([bad, { ...bad, atMs: 500_000 }], { writeBack: { kind: 'pending' } }).end).toBeUndefined()
  })

  test('deleted and not re-created within its grace', () => {
    const deleting = { metadata: { deletionTimestamp: '2026-11-21T15:00:09Z' } }
    expect(judge([beforeCommit, { atMs: 1_000, ...deleting }, { atMs: 31_000, ...deleting }]).end).toMatchObject({
      status: 'app not found',
      cause: 'app_gone',
    })
    expect(
      judge([
        beforeCommit,
        { atMs: 1_000, ...deleting },
        { atMs: 20_000, uid: 'uid-2', version: 20, revision: aSha('a') },
        { atMs: 40_000, uid: 'uid-2', version: 21, revision: aSha('a') },
      ]).end,
    ).toBeUndefined()
  })

  test('superseded in Git, naming the commit', () => {
    const relations = new Map([[relationKey(commit, aSha('d')), { relation: 'descendant' as const, atMs: 0 }]])
    const images = ['registry.example/shop:v3']
    const later = { atMs: 1_000, revision: aSha('d'), images, seen: { relations } }
    expect(judge([beforeCommit, later]).wanted).toContainEqual({ kind: 'override_at', revision: aSha('d') })
    const overrides = new Map([[aSha('d'), new Map([['registry.example/shop', 'v3']])]])
    expect(judge([beforeCommit, { ...later, seen: { relations, overrides } }]).end).toMatchObject({
      status: 'cancelled',
      cause: 'superseded',
      reason: expect.stringContaining(aSha('d')),
    })
  })
})

describe('Pods of a wanted image that cannot start', () => {
  const progressing = { health: 'Progressing', images: ['registry.example/shop:v2'] }
  const looksWith = (pods: readonly object[], times: readonly number[]): readonly Look[] => [
    beforeCommit,
    ...times.map((atMs) => ({ ...progressing, atMs, seen: { tree: tree(pods, atMs) } })),
  ]

  test.for([
    { reason: 'ImagePullBackOff', cause: 'image_pull' },
    { reason: 'ErrImagePull', cause: 'image_pull' },
    { reason: 'Init:CrashLoopBackOff', cause: 'crash_loop' },
    { reason: 'CreateContainerConfigError', cause: 'container_config' },
  ])('$reason in every read for 120 s ends the task as $cause', ({ reason, cause }) => {
    expect(judge(looksWith([pod(reason)], [10_000, 60_000, 129_000])).end).toBeUndefined()
    expect(judge(looksWith([pod(reason)], [10_000, 60_000, 130_000])).end).toMatchObject({
      status: 'failed',
      cause,
      reason: expect.stringContaining('shop-1'),
    })
  })

  test.for([
    { uid: 'p1', why: 'Failed to pull image "shop:v2": not found' },
    { uid: 'another', why: 'why' },
  ])('the headline says why the image could not be pulled, as the events of this very Pod do (%s)', ({ uid, why }) => {
    const lines = [
      'Failed: Failed to pull image "shop:v2": not found',
      'Failed: Error: ErrImagePull',
      'BackOff: it waits',
    ]
    const podEvents = { askedAtMs: 0, version: 10, value: { uid, lines } }
    const looks = looksWith([pod('ImagePullBackOff')], [10_000, 130_000])
    const told = looks.map((look) => ({ ...look, seen: { ...look.seen, podEvents } }))
    expect(judge(told).end?.reason).toMatch(`cannot start: Pod shop-1: ImagePullBackOff: ${why} [image_pull]`)
  })

  test('a read that was answered late does not shorten the grace: what it shows may be as young as the answer', () => {
    const slow = { ...progressing, atMs: 13_000, seen: { tree: tree([pod('CrashLoopBackOff')], 10_000) } }
    const at = (atMs: number) => looksWith([pod('CrashLoopBackOff')], [atMs]).slice(1)
    expect(judge([beforeCommit, slow, ...at(131_000)]).end).toBeUndefined()
    expect(judge([beforeCommit, slow, ...at(133_000)]).end).toMatchObject({ cause: 'crash_loop' })
  })

  test('an image name that is none ends it at once', () => {
    expect(judge(looksWith([pod('InvalidImageName')], [10_000])).end).toMatchObject({ cause: 'image_name' })
  })

  test.for([
    { name: 'one read', pods: [pod('ImagePullBackOff')], times: [200_000], settings: {} },
    {
      name: 'an early end switched off',
      pods: [pod('ImagePullBackOff')],
      times: [10_000, 300_000],
      settings: { badPodGraceMs: 0 },
    },
    {
      name: 'another image',
      pods: [pod('ImagePullBackOff', { images: ['registry.example/shop:v1'] })],
      times: [10_000, 300_000],
      settings: {},
    },
    {
      name: 'a newer Pod that is ready',
      pods: [pod('ImagePullBackOff'), pod('Running', { uid: 'p2', createdAt: '2026-11-21T15:01:00Z' })],
      times: [10_000, 300_000],
      settings: {},
    },
  ])('$name does not end it', ({ pods, times, settings: changed }) => {
    expect(judge(looksWith(pods, times), { settings: changed }).end).toBeUndefined()
  })

  test('a read that shows it well in between starts the grace anew', () => {
    const [start, ...bad] = looksWith([pod('CrashLoopBackOff')], [10_000, 140_000])
    const well = { ...progressing, atMs: 60_000, seen: { tree: tree([pod('Running')], 60_000) } }
    expect(judge([start ?? beforeCommit, bad[0] ?? beforeCommit, well, bad[1] ?? beforeCommit]).end).toBeUndefined()
  })

  test('the Pods are looked at once a rollout takes 15 s', () => {
    const looks = [beforeCommit, { ...progressing, atMs: 1_000 }]
    expect(judge(looks)).toMatchObject({ againAtMs: 16_000 })
    expect(judge([...looks, { ...progressing, atMs: 16_000 }]).wanted).toContainEqual({
      kind: 'tree',
      diagnosis: 'slow',
    })
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
    expect(judge([beforeCommit, look]).wanted).toContainEqual({ kind: 'managed_resources' })
    const managed = {
      askedAtMs: 900,
      version: 10,
      value: { liveImages: ['registry.example/shop:v2'], allImages: [], hasForeignKinds: false, count: 1 },
    }
    expect(judge([beforeCommit, { ...look, seen: { managed } }]).end?.status).toBe('deployed')
  })

  test('are looked at again soon when the manifests were read for an earlier snapshot', () => {
    const managed = { askedAtMs: 900, version: 9, value: undefined }
    const look = { images: [], version: 10, seen: { managed } }
    const looks = [beforeCommit, { ...look, atMs: 1_000 }]
    expect(judge(looks)).toMatchObject({ wanted: [], againAtMs: 2_900 })
    expect(judge([...looks, { ...look, atMs: 2_900 }]).wanted).toContainEqual({ kind: 'managed_resources' })
  })
})

describe('an image that is not part of the application', () => {
  const value = {
    liveImages: ['registry.example/cart:v1'],
    allImages: ['registry.example/cart:v1'],
    hasForeignKinds: false,
    count: 1,
  }
  const look = (more: object = {}, fields: ApplicationFields = {}): Look => ({
    atMs: 1_000,
    images: ['registry.example/cart:v1'],
    ...fields,
    seen: { managed: { askedAtMs: 900, version: 10, value: { ...value, ...more } } },
  })

  test('ends the task and lists the images it has', () => {
    expect(judge([beforeCommit, look()]).end).toMatchObject({
      cause: 'image_not_in_application',
      reason: expect.stringContaining('registry.example/cart:v1'),
    })
  })

  test.for([
    { name: 'a manifest names it', more: { allImages: ['registry.example/shop:v1'] }, fields: {} },
    { name: 'custom resources', more: { hasForeignKinds: true }, fields: {} },
    { name: 'no image in any manifest', more: { allImages: [] }, fields: {} },
    { name: 'hooks', more: {}, fields: { status: { resources: [{ kind: 'Job', hook: true }] } } },
    { name: 'not healthy', more: {}, fields: { health: 'Progressing' } },
  ])('does not with $name', ({ more, fields }) => {
    expect(judge([beforeCommit, look(more, fields)]).end).toBeUndefined()
  })
})

describe('standing still', () => {
  test('manual sync is said at once and named at the deadline', () => {
    const manual = { sync: 'OutOfSync', spec: { syncPolicy: {} }, images: ['registry.example/shop:v1'] }
    expect(judge([beforeCommit, { atMs: 1_000, ...manual }]).progress).toContain('manual sync required')
    expect(judge([beforeCommit, { atMs: 900_000, ...manual }]).end).toMatchObject({
      status: 'failed',
      cause: 'manual_sync_required',
    })
  })

  test('a sync window is asked for after 20 s without an operation', () => {
    const idle = { sync: 'OutOfSync', images: ['registry.example/shop:v1'] }
    expect(judge([beforeCommit, { atMs: 1_000, ...idle }, { atMs: 20_999, ...idle }]).wanted).toEqual([])
    expect(judge([beforeCommit, { atMs: 1_000, ...idle }, { atMs: 21_000, ...idle }]).wanted).toContainEqual({
      kind: 'sync_windows',
    })
  })

  test('a comparison missing for 10 s after an operation is asked for', () => {
    const waiting = { operationState: { ...succeeded, finishedAt: '2026-11-21T15:00:11Z' } }
    const looks = [beforeCommit, { atMs: 1_000, ...waiting }, { atMs: 11_000, ...waiting }]
    expect(judge(looks).wanted).toContainEqual({ kind: 'refresh', why: 'no comparison after the operation' })
  })
})

describe('the deadline', () => {
  test('names the gates that are closed and their values', () => {
    const end = judge([beforeCommit, { atMs: 900_000, health: 'Progressing' }]).end
    expect(end).toMatchObject({ status: 'failed', cause: 'timeout' })
    expect(end?.reason).toContain('Waited for (gate H): health status Healthy, not Progressing')
  })

  test('with Argo CD unreachable the task is aborted', () => {
    const seen = { unreachable: { sinceMs: 1, why: 'connection refused' }, directRead: undefined }
    expect(judge([beforeCommit, { atMs: 900_000, seen }]).end).toMatchObject({
      status: 'aborted',
      cause: 'controller_unreachable',
      reason: expect.stringContaining('unreachable since 900 s before: connection refused'),
    })
  })

  test('a missing credential is the first line', () => {
    const writeBack: WriteBackState = { kind: 'monitor', why: 'no_credential', note: 'no credential came along' }
    const end = judge([beforeCommit, { atMs: 900_000, images: ['registry.example/shop:v1'] }], { writeBack }).end
    expect(end?.cause).toBe('no_credential')
    expect(end?.reason?.split('\n')[0]).toBe('no credential came along')
  })

  test('a credential that came for an application that is not managed is named', () => {
    const writeBack: WriteBackState = { kind: 'monitor', why: 'not_managed', note: 'no annotation managed' }
    const end = judge([beforeCommit, { ...beforeCommit, atMs: 900_000, version: 11 }], { writeBack }).end
    expect(end).toMatchObject({ status: 'failed', cause: 'not_managed' })
    expect(end?.reason?.split('\n')[0]).toBe('no annotation managed')
  })

  test('where the images came, the missing commit is not the cause', () => {
    const writeBack: WriteBackState = { kind: 'monitor', why: 'no_credential', note: 'no credential came along' }
    const looks = [beforeCommit, { atMs: 900_000, health: 'Progressing' }]
    expect(judge(looks, { writeBack }).end?.cause).toBe('timeout')
  })

  test('a commit that never got out is named, also when the images already run', () => {
    const runs = {
      atMs: 900_000,
      version: 11,
      seen: { refresh: { ...nothingRefreshed, answered: { beganAfterMs: 1, version: 11 } } },
    }
    expect(judge([beforeCommit, runs], { writeBack: { kind: 'pending' } }).end).toMatchObject({
      status: 'failed',
      cause: 'git_unreachable',
    })
  })

  test('direct reads that are refused are named with both causes', () => {
    const seen = { directRead: { askedAtMs: 900_000, result: 'missing' } } as const
    const reason = judge([beforeCommit, { atMs: 900_000, health: 'Progressing', seen }]).end?.reason
    expect(reason).toContain('the token may not read the application, or it is not there')
  })

  test('a commit that never got out is named', () => {
    expect(judge([{ ...beforeCommit, atMs: 900_000 }], { writeBack: { kind: 'pending' } }).end).toMatchObject({
      cause: 'git_unreachable',
    })
  })
})

describe('a task whose time had passed before a replica watched it', () => {
  const overdue = { task: { isOverdue: true, deadlineMs: 10_000 } }

  test('is deployed if the look afterwards shows it complete', () => {
    expect(judge([beforeCommit, { atMs: 1_000 }], overdue).end).toEqual({ status: 'deployed' })
  })

  test('else is aborted, and the cause is that no replica was there', () => {
    const end = judge([beforeCommit, { atMs: 10_000, health: 'Progressing' }], overdue).end
    expect(end).toMatchObject({ status: 'aborted', cause: 'no_replica' })
    expect(end?.reason).toContain('does not show it complete')
  })
})

describe('a Pod that runs but is never ready', () => {
  const unready = pod('Running', { health: { status: 'Progressing' } })
  const podEvents = {
    askedAtMs: 0,
    version: 10,
    value: { uid: 'p1', lines: ['Unhealthy: Readiness probe failed: 503'] },
  }
  const lookAt = (atMs: number, health: string): Look => ({
    atMs,
    health,
    seen: { tree: tree([unready], atMs), podEvents },
  })
  const cause = 'probe_failing'
  const reason = expect.stringContaining('shop-1 runs but is not ready: Unhealthy: Readiness probe failed: 503')

  test('is named at the deadline, if more than one read saw it so', () => {
    const looks = [beforeCommit, lookAt(600_000, 'Progressing'), lookAt(900_000, 'Progressing')]
    expect(judge(looks).end).toMatchObject({ status: 'failed', cause, reason })
    expect(judge([beforeCommit, lookAt(900_000, 'Progressing')]).end?.cause).toBe('timeout')
  })

  test('is named once the application has been Degraded for its grace', () => {
    const looks = [beforeCommit, lookAt(1_000, 'Degraded'), lookAt(61_000, 'Degraded')]
    expect(judge(looks).end).toMatchObject({ status: 'failed', cause, reason })
  })

  test('ends nothing early: it may only be slow', () => {
    const looks = [beforeCommit, lookAt(1_000, 'Progressing'), lookAt(400_000, 'Progressing')]
    expect(judge(looks).end).toBeUndefined()
  })
})

describe('the write-back decides alone', () => {
  test('when it was refused', () => {
    const writeBack: WriteBackState = {
      kind: 'ended',
      atMs: 0,
      outcome: { kind: 'refused', cause: 'git_refused', reason: 'protected branch' },
    }
    expect(judge([beforeCommit], { writeBack }).end).toEqual({
      status: 'failed',
      cause: 'git_refused',
      reason: 'protected branch',
    })
  })

  test('when the application is not to be watched after the commit', () => {
    const annotations = { ...noAnnotations, fireAndForget: true }
    const last = { ...beforeCommit, seen: { annotations } }
    expect(judge([last], { writeBack: landed }).end?.status).toBe('deployed')
    expect(judge([last], { writeBack: monitored }).end).toBeUndefined()
  })
})

test('a reason has at most 8 KiB and one line for each thing, whatever the messages hold', () => {
  const message = 'ö\n\u0007'.repeat(20_000)
  const conditions = Array.from({ length: 40 }, () => ({ type: 'ComparisonError', message }))
  const reason = judge([beforeCommit, { atMs: 900_000, status: { conditions } }]).end?.reason ?? ''
  expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(8_192)
  expect(reason).not.toContain('\u0007')
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

describe('at the deadline', () => {
  const lastLook = { atMs: 900_000, version: 20, reconciledAt: '2026-11-21T15:00:09Z', operationState: succeeded }

  test('manifests that decide and are still to be read are waited for, as long as the last look may take', () => {
    const withoutPods = { ...lastLook, images: [] }
    const waiting = judge([beforeCommit, withoutPods])
    expect(waiting.end).toBeUndefined()
    expect(waiting.wanted).toContainEqual({ kind: 'managed_resources' })
    const late = judge([beforeCommit, withoutPods, { ...withoutPods, atMs: 906_000 }])
    expect(late.end).toMatchObject({ status: 'failed', cause: 'timeout' })
  })

  test('in strict mode the look at the Pods is waited for', () => {
    const waiting = judge([beforeCommit, lastLook], { settings: { isStrict: true } })
    expect(waiting).toMatchObject({ end: undefined, wanted: [{ kind: 'tree' }] })
  })

  test('an ancestry that is still being looked up is waited for', () => {
    const ofOthers = { ...lastLook, revision: aSha('d') }
    const waiting = judge([beforeCommit, ofOthers])
    expect(waiting.end).toBeUndefined()
    expect(waiting.wanted).toContainEqual({ kind: 'relation', repository, commit, revision: aSha('d') })
    const relations = new Map([[relationKey(commit, aSha('d')), { relation: 'descendant', atMs: 900_000 } as const]])
    const seen = { ...ofOthers, atMs: 900_100, seen: { relations } }
    expect(judge([beforeCommit, ofOthers, seen]).end?.status).toBe('deployed')
  })

  const resources = [{ kind: 'CronJob', name: 'report', status: 'Synced', images: ['registry.example/shop:v2'] }]
  test.for([
    { what: 'the look at the Pods of strict mode', fields: {}, strict: true },
    {
      what: 'what has no Pods',
      fields: { images: [], operationState: { ...succeeded, syncResult: { revision: aSha('d'), resources } } },
      strict: false,
    },
  ])('$what comes after it, and a gate that needs more than looks ends the waiting', ({ fields, strict: isStrict }) => {
    const ofOthers = { ...lastLook, ...fields, revision: aSha('d') }
    expect(judge([beforeCommit, ofOthers], { settings: { isStrict } }).end).toBeUndefined()
    const unwell = { ...ofOthers, health: 'Progressing' }
    expect(judge([beforeCommit, unwell], { settings: { isStrict } }).end?.status).toBe('failed')
  })
})

describe('an application that seems gone for its grace', () => {
  const gone = { ...nothingKnown, newest: anApplication(), isGone: true, seenAtMs: 0 }
  const look = (seen: Partial<RolloutObservation>) =>
    judge([
      beforeCommit,
      { atMs: 1_000, seen: { known: gone } },
      { atMs: 31_000, seen: { known: gone } },
      { atMs: 31_100, seen: { known: gone, directRead: { askedAtMs: 31_050, result: 'missing' }, ...seen } },
    ])

  test('is looked for every 5 s, because it may come back and go again unseen', () => {
    const looks = [beforeCommit, { atMs: 1_000, seen: { known: gone, directRead: read(1_000) } }]
    expect(judge(looks)).toMatchObject({ wanted: [], againAtMs: 6_000 })
    const later = { atMs: 6_000, seen: { known: gone, directRead: read(1_000) } }
    expect(judge([...looks, later]).wanted).toEqual([{ kind: 'read' }])
  })

  test('is not gone because a direct read is refused: a List is asked too', () => {
    const refused = look({})
    expect(refused.end).toBeUndefined()
    const again = judge([
      beforeCommit,
      { atMs: 1_000, seen: { known: gone } },
      { atMs: 31_000, seen: { known: gone, directRead: { askedAtMs: 30_000, result: 'missing' } } },
    ])
    expect(again.wanted).toEqual([{ kind: 'read' }, { kind: 'list' }])
  })

  test('is gone when a List misses it as well, or a read of its project', () => {
    expect(look({ known: { ...gone, absentAskedAtMs: 31_060 } }).end?.cause).toBe('app_gone')
    expect(look({ directRead: { askedAtMs: 31_050, result: 'not_found' } }).end?.cause).toBe('app_gone')
  })
})

test('without refreshes a revision that moved opens gate R where nobody can tell its ancestry', () => {
  const relations = new Map([[relationKey(commit, aSha('d')), { relation: 'unknown', atMs: 1_000 } as const]])
  const ofOthers = { revision: aSha('d'), reconciledAt: '2026-11-21T15:00:09Z', operationState: succeeded }
  const judgement = judge([beforeCommit, { atMs: 1_000, ...ofOthers, seen: { relations } }], {
    task: { refresh: false },
  })
  expect(judgement.end).toMatchObject({
    status: 'deployed',
    reason: expect.stringMatching(/history .* could not be read/),
  })
})

test('once our commit was seen, a later comparison counts though nobody can tell its ancestry', () => {
  const relations = new Map([[relationKey(commit, aSha('d')), { relation: 'unknown', atMs: 1_000 } as const]])
  const ours: Look = { atMs: 1_000, version: 2, revision: commit, health: 'Progressing' }
  const ofOthers: Look = { atMs: 9_000, version: 3, revision: aSha('d'), seen: { relations } }
  expect(judge([beforeCommit, ours, ofOthers]).end?.status).toBe('deployed')
  expect(judge([beforeCommit, ofOthers]).end).toBeUndefined()
})

test.for([
  { is: 'read for', atMs: 15_000, wanted: [{ kind: 'read' }] },
  { is: 'waited for', atMs: 14_999, wanted: [] },
])('a refresh after our commit whose end was not seen is $is after $atMs ms', ({ atMs, wanted }) => {
  const pending = { beganAfterMs: undefined, isSeen: false, acceptedAtMs: 0 }
  const refresh = { ...nothingRefreshed, lastAskedAtMs: 0, pending }
  const asked = { refresh, directRead: read(0) }
  const judgement = judge([
    beforeCommit,
    { ...beforeCommit, atMs: 1, seen: asked },
    { ...beforeCommit, atMs, seen: asked },
  ])
  expect(judgement.wanted.filter(({ kind }) => kind === 'read')).toEqual(wanted)
})

describe('an operation on an older commit that ended in the second of the comparison', () => {
  const second = '2026-11-21T15:00:08Z'
  const older = { ...succeeded, syncResult: { revision: aSha('b') } }
  const unrelated = new Map([[relationKey(commit, aSha('b')), { relation: 'unrelated', atMs: 1_000 } as const]])
  const look = { atMs: 1_000, reconciledAt: second, operationState: older, seen: { relations: unrelated } }

  test('may have undone what the comparison saw, so another comparison is waited for', () => {
    expect(judge([beforeCommit, look]).end).toBeUndefined()
    expect(judge([beforeCommit, { ...look, reconciledAt: '2026-11-21T15:00:09Z' }]).end?.status).toBe('deployed')
  })

  test('does no harm where it held our commit', () => {
    const later = new Map([[relationKey(commit, aSha('b')), { relation: 'descendant', atMs: 1_000 } as const]])
    expect(judge([beforeCommit, { ...look, seen: { relations: later } }]).end?.status).toBe('deployed')
  })
})
