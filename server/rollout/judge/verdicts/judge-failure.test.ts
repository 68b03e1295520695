import { describe, expect, test } from 'vitest'
import { type ApplicationFields, anApplication, aSha } from '../../../../test/support/application-builder.ts'
import {
  beforeCommit,
  commit,
  failedOperation,
  judge,
  type Look,
  landed,
  monitored,
  pod,
  read,
  succeeded,
  tree,
} from '../../../../test/support/judge-looks.ts'
import { noAnnotations } from '../../../../test/support/rollout-builder.ts'
import { nothingKnown } from '../../observed/newest-snapshots.ts'
import { ancestryKey, nothingRefreshed, type RolloutObservation } from '../input/rollout-observation.ts'
import type { WriteBackState } from '../input/watched-task.ts'

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

  const error = (seconds: number, message = 'load failed: bad') => ({
    revision: 'main',
    sync: 'Unknown',
    status: {
      conditions: [{ type: 'ComparisonError', message, lastTransitionTime: `2026-11-21T15:00:${seconds}Z` }],
    },
  })
  const ofErrors = [
    { name: 'the same error at a later time', later: error(40), status: undefined },
    { name: 'another error', later: error(40, 'other'), status: undefined },
    {
      name: 'the error that is now cached',
      later: error(40, 'load failed: Manifest generation error (cached): bad'),
      status: 'failed',
    },
    { name: 'the same error', later: error(10), status: 'failed' },
  ]
  test.for(ofErrors)('a comparison error followed by $name, 120 s after the first: $status', ({ later, status }) => {
    const looks = [beforeCommit, { atMs: 1_000, ...error(10) }, { atMs: 31_000, ...later }]
    expect(judge([...looks, { atMs: 121_000, ...later }]).end?.status).toBe(status)
    expect(judge([...looks, { atMs: 151_000, ...later }]).end?.status).toBe('failed')
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
        operationState: { phase: 'Running', finishedAt: '2026-11-21T15:00:08Z' },
      },
    },
  ])('$name does not', ({ fields }) => {
    expect(judge([beforeCommit, { atMs: 1_000, ...fields }, { atMs: 400_000, ...fields }]).end).toBeUndefined()
  })

  test.for([
    { name: 'none of them: another task or an earlier state', images: ['registry.example/shop:v1'], cause: undefined },
    { name: 'the requested one', images: ['registry.example/shop:v2'], cause: 'degraded' },
  ])('degraded without a commit of ours counts by the images that are there: $name', ({ images, cause }) => {
    const refresh = { ...nothingRefreshed, answered: { beganAfterMs: 0, version: 2 } }
    const at = (atMs: number) => ({
      atMs,
      version: 2,
      health: 'Degraded',
      images,
      seen: { refresh, directRead: read(atMs) },
    })
    const looks = [{ ...at(0), version: 1 }, at(1_000), at(61_000)]
    expect(judge(looks, { writeBack: monitored }).end?.cause).toBe(cause)
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
    const ancestries = new Map([[ancestryKey(commit, aSha('d')), { ancestry: 'descendant' as const, atMs: 0 }]])
    const images = ['registry.example/shop:v3']
    const later = { atMs: 1_000, revision: aSha('d'), images, seen: { ancestries } }
    expect(judge([beforeCommit, later]).actions).toContainEqual({ kind: 'override_at', revision: aSha('d') })
    const overrides = new Map([[aSha('d'), new Map([['registry.example/shop', 'v3']])]])
    expect(judge([beforeCommit, { ...later, seen: { ancestries, overrides } }]).end).toMatchObject({
      status: 'cancelled',
      cause: 'superseded',
      reason: expect.stringContaining(aSha('d')),
    })
  })
})

test('a Pod stays bad over a read of the tree that failed', () => {
  const at = (atMs: number, seen: Partial<RolloutObservation>): Look => ({ atMs, health: 'Progressing', seen })
  const bad = (atMs: number) => at(atMs, { tree: tree([pod('ImagePullBackOff')], atMs) })
  const failed = at(60_000, { tree: { ...tree([], 60_000), value: undefined } })
  expect(judge([beforeCommit, bad(1_000), failed, bad(122_000)]).end?.cause).toBe('image_pull')
})

describe('an image that is not part of the application', () => {
  const value = {
    liveImages: ['registry.example/cart:v1'],
    declaredImages: ['registry.example/cart:v1'],
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
    { name: 'a manifest names it', more: { declaredImages: ['registry.example/shop:v1'] }, fields: {} },
    { name: 'custom resources', more: { hasForeignKinds: true }, fields: {} },
    { name: 'no image in any manifest', more: { liveImages: [], declaredImages: [] }, fields: {} },
    { name: 'hooks', more: {}, fields: { status: { resources: [{ kind: 'Job', hook: true }] } } },
    { name: 'not healthy', more: {}, fields: { health: 'Progressing' } },
  ])('does not with $name', ({ more, fields }) => {
    expect(judge([beforeCommit, look(more, fields)]).end).toBeUndefined()
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
    expect(judge(looks)).toMatchObject({ actions: [], againAtMs: 6_000 })
    const later = { atMs: 6_000, seen: { known: gone, directRead: read(1_000) } }
    expect(judge([...looks, later]).actions).toEqual([{ kind: 'read' }])
  })

  test('is not gone because a direct read is refused: a List is asked too', () => {
    const refused = look({})
    expect(refused.end).toBeUndefined()
    const again = judge([
      beforeCommit,
      { atMs: 1_000, seen: { known: gone } },
      { atMs: 31_000, seen: { known: gone, directRead: { askedAtMs: 30_000, result: 'missing' } } },
    ])
    expect(again.actions).toEqual([{ kind: 'read' }, { kind: 'list' }])
  })

  test('is gone when a List misses it as well, or a read of its project', () => {
    expect(look({ known: { ...gone, absentAskedAtMs: 31_060 } }).end?.cause).toBe('app_gone')
    expect(look({ directRead: { askedAtMs: 31_050, result: 'not_found' } }).end?.cause).toBe('app_gone')
  })
})

describe('the write-back decides alone', () => {
  test('when it was refused', () => {
    const writeBack: WriteBackState = {
      kind: 'ended',
      atMs: 0,
      outcome: { kind: 'refused', cause: 'git_refused', reason: 'protected branch' },
    }
    expect(judge([beforeCommit], { writeBack }).end).toMatchObject({
      status: 'failed',
      cause: 'git_refused',
      reason: expect.stringMatching(/^The Git host rejected the commit: protected branch \[git_refused\]\n/),
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
