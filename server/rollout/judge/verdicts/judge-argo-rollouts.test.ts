import { describe, expect, test } from 'vitest'
import { beforeCommit, judge, type Look, succeeded, tree } from '../../../../test/support/judge-looks.ts'

const aborted = 'RolloutAborted: Rollout aborted update to revision'
const metric = 'Metric "success-rate" assessed Failed due to failed (2) > failureLimit (1)'

type Shown = {
  readonly message?: string
  readonly health?: string
  readonly newest?: number
  readonly treeAtMs?: number
}

const resource = ({ message, health = 'Degraded' }: Shown) => ({
  group: 'argoproj.io',
  kind: 'Rollout',
  namespace: 'shop',
  name: 'shop',
  status: 'Synced',
  health: { status: health, message },
})

const nodes = (newest: number) => [
  {
    group: 'argoproj.io',
    kind: 'Rollout',
    namespace: 'shop',
    name: 'shop',
    uid: 'r',
    info: [{ name: 'Revision', value: `Rev:${newest}` }],
  },
  {
    group: 'apps',
    kind: 'ReplicaSet',
    namespace: 'shop',
    name: 'shop-1',
    uid: 'rs1',
    parentRefs: [{ uid: 'r' }],
    info: [{ name: 'Revision', value: 'Rev:1' }],
  },
  {
    group: 'apps',
    kind: 'ReplicaSet',
    namespace: 'shop',
    name: 'shop-2',
    uid: 'rs2',
    parentRefs: [{ uid: 'r' }],
    info: [{ name: 'Revision', value: `Rev:${newest}` }],
  },
  {
    group: 'argoproj.io',
    kind: 'AnalysisRun',
    namespace: 'shop',
    name: 'shop-2-2',
    uid: 'ar',
    parentRefs: [{ uid: 'rs2' }],
    health: { status: 'Degraded', message: metric },
  },
]

/** A Rollout whose canary was scaled to nothing again: only the old tag runs, and the application is Synced. */
const look = (atMs: number, shown: Shown = {}): Look => ({
  atMs,
  health: shown.health ?? 'Degraded',
  images: ['registry.example/shop:v1'],
  operationState: succeeded,
  status: { resources: [resource(shown)] },
  seen: shown.treeAtMs === undefined ? {} : { tree: tree(nodes(shown.newest ?? 2), shown.treeAtMs) },
})

describe('an aborted Rollout', () => {
  test.for([
    { message: `${aborted} 2`, cause: 'rollout_aborted', culprit: { kind: 'Rollout', name: 'shop' } },
    {
      message: `${aborted} 2: ${metric}`,
      cause: 'analysis_failed',
      culprit: { kind: 'AnalysisRun', name: 'shop-2-2', metric: 'success-rate' },
    },
    {
      message: `${aborted} 2: Step-based analysis phase error/failed: ${metric}`,
      cause: 'analysis_failed',
      culprit: { kind: 'AnalysisRun' },
    },
    {
      message: `${aborted} 2: Background analysis phase error/failed: ${metric}`,
      cause: 'analysis_failed',
      culprit: { kind: 'AnalysisRun' },
    },
  ])('$message ends the task at once as $cause', ({ message, cause, culprit }) => {
    const { end } = judge([beforeCommit, look(20_000, { message }), look(21_000, { message, treeAtMs: 20_500 })])
    expect(end).toMatchObject({ status: 'failed', cause, diagnosis: { culprit } })
  })

  test.for<{ readonly says: string; readonly shown: Shown }>([
    {
      says: 'names an earlier revision, which is history',
      shown: { message: `${aborted} 2`, newest: 3, treeAtMs: 20_500 },
    },
    { says: 'has a tree from before the sync ended', shown: { message: `${aborted} 2`, treeAtMs: 10_000 } },
    { says: 'names no revision', shown: { message: 'RolloutAborted: metric "x" assessed Failed', treeAtMs: 20_500 } },
  ])('that $says ends nothing at once', ({ shown }) => {
    expect(judge([beforeCommit, look(20_000, shown), look(21_000, shown)]).end).toBeUndefined()
  })

  test('that names no revision ends the task after the grace of Degraded', () => {
    const shown = {
      message: 'RolloutAborted: metric "success-rate" assessed Failed due to failed (2) > failureLimit (1)',
      treeAtMs: 20_500,
    }
    expect(judge([beforeCommit, look(20_000, shown), look(81_000, shown)]).end?.cause).toBe('analysis_failed')
  })

  test('of an earlier revision is not the reason why the task ends Degraded', () => {
    const shown = { message: `${aborted} 2`, newest: 3, treeAtMs: 20_500 }
    expect(judge([beforeCommit, look(20_000, shown), look(200_000, shown)]).end).toBeUndefined()
  })

  test('from before the task waits for its retry', () => {
    const shown = { message: `${aborted} 2`, treeAtMs: 20_500 }
    const before = { ...look(0, shown), revision: beforeCommit.revision, version: 1 } as Look
    expect(judge([before, look(20_000, shown), look(200_000, shown)]).end).toBeUndefined()
    const retried = look(30_000, { health: 'Progressing' })
    expect(
      judge([before, look(20_000, shown), retried, look(40_000, shown), look(41_000, { ...shown, treeAtMs: 40_500 })])
        .end?.cause,
    ).toBe('rollout_aborted')
  })
})

describe('a paused Rollout', () => {
  test.for([
    { message: 'CanaryPauseStep', reason: 'CanaryPauseStep' },
    { message: 'BlueGreenPause', reason: 'BlueGreenPause' },
    { message: 'Rollout is paused', reason: undefined },
  ])('$message is named', ({ message, reason }) => {
    const shown = { message, health: 'Suspended' }
    const { diagnosis } = judge([beforeCommit, look(20_000, shown)])
    expect(diagnosis).toMatchObject({ cause: 'suspended', culprit: { kind: 'Rollout', name: 'shop', message } })
    expect(diagnosis?.culprit?.reason).toBe(reason)
  })
})
