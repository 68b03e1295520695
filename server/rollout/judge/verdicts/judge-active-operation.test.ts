import { describe, expect, test } from 'vitest'
import { beforeCommit, commit, judge, type Look, tree } from '../../../../test/support/judge-looks.ts'

const refusal =
  'one or more objects failed to apply, reason: admission webhook "validate.acme.example" denied the request'

const running = (message: string, more: object = {}) => ({
  phase: 'Running',
  message,
  startedAt: '2026-11-21T15:00:05Z',
  operation: { sync: { revision: commit } },
  ...more,
})

const look = (atMs: number, operationState: object, nodes: readonly object[] = []): Look => ({
  atMs,
  sync: 'OutOfSync',
  health: 'Progressing',
  images: ['registry.example/shop:v1'],
  operationState,
  status: {
    resources: [
      {
        group: 'apps',
        kind: 'Deployment',
        namespace: 'shop',
        name: 'db',
        health: { status: 'Progressing', message: 'Waiting for rollout to finish' },
      },
    ],
  },
  seen: { tree: tree(nodes, atMs - 500) },
})

const refused = running(refusal, {
  retryCount: 1,
  syncResult: {
    revision: commit,
    resources: [
      { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web', status: 'SyncFailed', message: refusal },
    ],
  },
})
const failedHook = running('one or more synchronization tasks completed unsuccessfully', {
  retryCount: 1,
  syncResult: {
    revision: commit,
    resources: [
      {
        group: 'batch',
        kind: 'Job',
        namespace: 'shop',
        name: 'migrate',
        hookType: 'PreSync',
        hookPhase: 'Failed',
        message: 'Job has reached the specified backoff limit',
      },
    ],
  },
})

describe('an operation that is tried again', () => {
  test.for([
    {
      says: 'a resource',
      state: refused,
      cause: 'sync_error',
      culprit: { kind: 'Deployment', name: 'web', message: refusal },
    },
    { says: 'a hook', state: failedHook, cause: 'hook_failed', culprit: { kind: 'Job', name: 'migrate' } },
  ])('names $says from its first refusal on, and ends with it at the deadline', ({ state, cause, culprit }) => {
    expect(judge([beforeCommit, look(2_000, state)])).toMatchObject({ end: undefined, diagnosis: { cause, culprit } })
    const atDeadline = [beforeCommit, look(2_000, state), look(900_000, state), look(900_500, state)]
    expect(judge(atDeadline).end).toMatchObject({ status: 'failed', cause, diagnosis: { culprit } })
  })

  test('does not end a task before that', () => {
    expect(judge([beforeCommit, look(2_000, refused), look(300_000, refused)]).end).toBeUndefined()
  })
})

const job = {
  group: 'batch',
  kind: 'Job',
  namespace: 'shop',
  name: 'migrate',
  uid: 'j',
  health: { status: 'Progressing' },
}
const hookPod = (reason: string) => ({
  kind: 'Pod',
  namespace: 'shop',
  name: 'migrate-x',
  uid: 'jp',
  parentRefs: [{ uid: 'j' }],
  images: ['registry.example/migrate:v2'],
  info: [{ name: 'Status Reason', value: reason }],
  health: { status: 'Progressing' },
})

describe('an operation that waits', () => {
  test.for([
    {
      message: 'waiting for healthy state of apps/Deployment/db',
      cause: 'operation_waiting',
      culprit: { kind: 'Deployment', name: 'db', message: 'Waiting for rollout to finish' },
    },
    {
      message: 'waiting for healthy state of apps/Deployment/db and 2 more resources',
      cause: 'operation_waiting',
      culprit: { kind: 'Deployment', name: 'db' },
    },
    {
      message: 'waiting for completion of hook batch/Job/migrate',
      cause: 'operation_waiting',
      culprit: { kind: 'Job', name: 'migrate' },
    },
    {
      message: 'waiting for deletion of hook batch/Job/migrate',
      cause: 'operation_waiting',
      culprit: { kind: 'Job', name: 'migrate' },
    },
    {
      message: 'waiting for pruning confirmation of apps/Deployment/old',
      cause: 'operation_waiting',
      culprit: { kind: 'Deployment', name: 'old' },
    },
  ])('$message', ({ message, cause, culprit }) => {
    const nodes = [job, hookPod('Running')]
    const looks = [beforeCommit, look(2_000, running(message), nodes), look(20_000, running(message), nodes)]
    expect(judge(looks.slice(0, 2)).diagnosis?.cause).toBeUndefined()
    expect(judge(looks)).toMatchObject({ end: undefined, diagnosis: { cause, culprit } })
  })

  test('for a hook whose Pod cannot start names that Pod', () => {
    const state = running('waiting for completion of hook batch/Job/migrate')
    const nodes = [job, hookPod('ImagePullBackOff')]
    const looks = [beforeCommit, look(2_000, state), look(20_000, state, nodes), look(900_000, state, nodes)]
    expect(judge([...looks, look(900_500, state, nodes)]).end).toMatchObject({
      cause: 'image_pull',
      diagnosis: { culprit: { kind: 'Pod', name: 'migrate-x' } },
    })
  })

  test('for something else than this task is not its concern', () => {
    const state = running('waiting for healthy state of apps/Deployment/db', {
      operation: { sync: { revision: 'f'.repeat(40) } },
    })
    const looks = [beforeCommit, look(2_000, state), look(20_000, state)]
    expect(judge(looks).diagnosis?.cause).toBeUndefined()
  })
})
