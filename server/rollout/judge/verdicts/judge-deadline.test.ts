import { describe, expect, test } from 'vitest'
import { aSha, repository } from '../../../../test/support/application-builder.ts'
import { beforeCommit, commit, judge, type Look, read, succeeded, tree } from '../../../../test/support/judge-looks.ts'
import { noAnnotations } from '../../../../test/support/rollout-builder.ts'
import { ancestryKey, nothingRefreshed } from '../input/rollout-observation.ts'
import type { WriteBackState } from '../input/watched-task.ts'

describe('standing still', () => {
  test('manual sync is said at once and named at the deadline', () => {
    const manual = { sync: 'OutOfSync', spec: { syncPolicy: {} }, images: ['registry.example/shop:v1'] }
    expect(judge([beforeCommit, { atMs: 1_000, ...manual }]).progress).toContain('Manual sync required')
    expect(judge([beforeCommit, { atMs: 900_000, ...manual }]).end).toMatchObject({
      status: 'failed',
      cause: 'manual_sync_required',
    })
  })

  test('a sync window is asked for after 20 s without an operation', () => {
    const idle = { sync: 'OutOfSync', images: ['registry.example/shop:v1'] }
    expect(judge([beforeCommit, { atMs: 1_000, ...idle }, { atMs: 20_999, ...idle }]).actions).toEqual([])
    expect(judge([beforeCommit, { atMs: 1_000, ...idle }, { atMs: 21_000, ...idle }]).actions).toContainEqual({
      kind: 'sync_windows',
    })
  })

  test('a comparison missing for 10 s after an operation is asked for', () => {
    const waiting = { operationState: { ...succeeded, finishedAt: '2026-11-21T15:00:11Z' } }
    const looks = [beforeCommit, { atMs: 1_000, ...waiting }, { atMs: 11_000, ...waiting }]
    expect(judge(looks).actions).toContainEqual({ kind: 'refresh', why: 'no comparison after the operation' })
  })
})

describe('a commit without effect: applied, synced and healthy, but the manifests declare another tag', () => {
  const old = { images: ['registry.example/shop:v1'], version: 10 }
  const managed = {
    askedAtMs: 4_000,
    version: 10,
    value: {
      liveImages: ['registry.example/shop:v1'],
      declaredImages: ['registry.example/shop:v1', 'registry.example/cart:v7'],
      hasForeignKinds: false,
    },
  }
  const seen = { managed, tree: tree([], 900) }
  const looks = [beforeCommit, { ...old, atMs: 1_000, seen: { tree: tree([], 900) } }]
  const end = (overrideFilePrefix: string) =>
    judge([...looks, { ...old, atMs: 900_000, seen }], { settings: { overrideFilePrefix } }).end

  test('has the manifests read when the images lag for 3 s, not before, and once for each state', () => {
    const later = (atMs: number, more: object = {}) =>
      judge([...looks, { ...old, atMs, seen: { tree: tree([], 900), ...more } }]).actions
    const read = { kind: 'managed_resources', priority: 'low' }
    expect(later(3_999)).not.toContainEqual(read)
    expect(later(4_000)).toContainEqual(read)
    expect(later(60_000, { managed })).not.toContainEqual(read)
  })

  test('is said while the task goes on', () => {
    const judgement = judge([...looks, { ...old, atMs: 5_000, seen }])
    expect(judgement).toMatchObject({
      end: undefined,
      progress:
        'The commit did not change the tag in the manifests: the manifests still declare registry.example/shop:v1',
    })
  })

  test('is the cause at the deadline, with the checks in order', () => {
    expect(end('argocd')).toMatchObject({ status: 'failed', cause: 'commit_without_effect' })
    expect(end('argocd')?.reason).toMatch(
      /step 1 .* a source .*\n.*step 2 .*manifest-generate-paths.*\n.*step 3 .* the chart/,
    )
  })

  test('names the prefix first where it is not the one that Argo CD reads', () => {
    expect(end('watcher')?.reason).toContain(
      'Next step 1 (operator of this service): Set OVERRIDE_FILE_PREFIX to "argocd"',
    )
  })

  test('names no prefix where no override file was written', () => {
    const annotations = { ...noAnnotations, writeBackTarget: { kind: 'helmvalues' } }
    const last = { ...old, atMs: 900_000, seen: { ...seen, annotations } }
    const { end } = judge([...looks, last], { settings: { overrideFilePrefix: 'watcher' } })
    expect(end?.cause).toBe('commit_without_effect')
    expect(end?.reason).not.toContain('OVERRIDE_FILE_PREFIX')
  })

  test.for([
    { name: 'the manifests declare the requested tag', declaredImages: ['registry.example/shop:v2'] },
    { name: 'the manifests declare no image of that name', declaredImages: ['registry.example/cart:v7'] },
  ])('is not what it is called where $name', ({ declaredImages }) => {
    const other = { ...seen, managed: { ...managed, value: { ...managed.value, declaredImages } } }
    expect(judge([...looks, { ...old, atMs: 900_000, seen: other }]).end?.cause).toBe('timeout')
  })
})

describe('the deadline', () => {
  test('names the conditions that are not met, their values and for how long', () => {
    const slow = { atMs: 100_000, health: 'Progressing', images: ['registry.example/shop:v1'] }
    const end = judge([
      beforeCommit,
      { ...beforeCommit, atMs: 50_000, revision: commit, images: [] },
      slow,
      { ...slow, atMs: 900_000 },
    ]).end
    expect(end).toMatchObject({ status: 'failed', cause: 'timeout' })
    const lines = end?.reason?.split('\n') ?? []
    expect(end?.diagnosis?.culprit).toMatchObject({ kind: 'Deployment', name: 'shop' })
    expect(lines).toContain('Condition not met for 800s: healthy: expected Healthy, found Progressing')
    expect(lines).toContain(
      'Condition not met for 800s: images: expected registry.example/shop:v2, found registry.example/shop:v1',
    )
    expect(lines).toContain('Timed out after 900s')
  })

  test('names in its first line the annotation without which nothing was committed', () => {
    const note = 'nothing was committed: the annotation watcher/managed-images has no alias for registry.example/shop'
    const writeBack: WriteBackState = { kind: 'monitor', why: 'no_alias', note }
    const looks = [beforeCommit, { ...beforeCommit, atMs: 900_000, version: 11 }]
    expect(judge(looks.slice(0, 1), { writeBack }).diagnosis).toMatchObject({ cause: 'annotation_invalid' })
    const { end } = judge(looks, { writeBack })
    expect(end).toMatchObject({ status: 'failed', cause: 'annotation_invalid' })
    expect(end?.diagnosis?.headline).toBe('Annotation watcher/managed-images has no alias for registry.example/shop')
    expect(end?.reason?.split('has no alias')).toHaveLength(3) // the headline, and the message whole
  })

  test('with Argo CD unreachable the task is aborted', () => {
    const seen = { unreachable: { sinceMs: 1, why: 'connection refused' }, directRead: undefined }
    expect(judge([beforeCommit, { atMs: 900_000, seen }]).end).toMatchObject({
      status: 'aborted',
      cause: 'controller_unreachable',
      reason: expect.stringMatching(/^The outcome is not confirmed: Argo CD is unreachable: connection refused/),
    })
  })

  test('a missing credential is the first line', () => {
    const writeBack: WriteBackState = { kind: 'monitor', why: 'no_credential', note: 'no credential came along' }
    const end = judge([beforeCommit, { atMs: 900_000, images: ['registry.example/shop:v1'] }], { writeBack }).end
    expect(end?.cause).toBe('no_credential')
    expect(end?.reason?.split('\n')[0]).toMatch(/^No credential came with the deployment/)
  })

  test('a credential that came for an application that is not managed is named', () => {
    const writeBack: WriteBackState = { kind: 'monitor', why: 'not_managed', note: 'no annotation managed' }
    const end = judge([beforeCommit, { ...beforeCommit, atMs: 900_000, version: 11 }], { writeBack }).end
    expect(end).toMatchObject({ status: 'failed', cause: 'not_managed' })
    expect(end?.reason?.split('\n')[0]).toMatch(/^The application is not managed/)
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
    expect(reason).toContain('the token may not read the application, or it does not exist')
  })

  test('an error from before the commit holds up nothing while the commit is on its way, and is not the cause', () => {
    const conditions = [{ type: 'ComparisonError', message: 'from before' }]
    const broken = (atMs: number): Look => ({ ...beforeCommit, atMs, status: { conditions } })
    const pending: WriteBackState = { kind: 'pending' }
    expect(judge([broken(0)], { writeBack: pending }).diagnosis).not.toHaveProperty('cause')
    expect(judge([broken(0), broken(906_000)], { writeBack: pending }).end).toMatchObject({ cause: 'git_unreachable' })
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
    expect(judge([beforeCommit, { atMs: 1_000 }], overdue).end).toMatchObject({ status: 'deployed' })
  })

  test('else is aborted, and the cause is that no replica was there', () => {
    const end = judge([beforeCommit, { atMs: 10_000, health: 'Progressing' }], overdue).end
    expect(end).toMatchObject({ status: 'aborted', cause: 'no_replica' })
    expect(end?.reason).toContain('healthy: expected Healthy, found Progressing')
  })
})

describe('at the deadline', () => {
  const lastLook = { atMs: 900_000, version: 20, reconciledAt: '2026-11-21T15:00:09Z', operationState: succeeded }

  test('manifests that decide and are still to be read are waited for, as long as the last look may take', () => {
    const withoutPods = { ...lastLook, images: [] }
    const waiting = judge([beforeCommit, withoutPods])
    expect(waiting.end).toBeUndefined()
    expect(waiting.actions).toContainEqual({ kind: 'managed_resources' })
    const late = judge([beforeCommit, withoutPods, { ...withoutPods, atMs: 906_000 }])
    expect(late.end).toMatchObject({ status: 'failed', cause: 'timeout' })
  })

  test('in strict mode the look at the Pods is waited for', () => {
    const waiting = judge([beforeCommit, lastLook], { settings: { isStrict: true } })
    expect(waiting).toMatchObject({ end: undefined, actions: [{ kind: 'tree' }] })
  })

  test('an ancestry that is still being looked up is waited for', () => {
    const ofOthers = { ...lastLook, revision: aSha('d') }
    const waiting = judge([beforeCommit, ofOthers])
    expect(waiting.end).toBeUndefined()
    expect(waiting.actions).toContainEqual({ kind: 'ancestry', repository, commit, revision: aSha('d') })
    const ancestries = new Map([[ancestryKey(commit, aSha('d')), { ancestry: 'descendant', atMs: 900_000 } as const]])
    const seen = { ...ofOthers, atMs: 900_100, seen: { ancestries } }
    expect(judge([beforeCommit, ofOthers, seen]).end?.status).toBe('deployed')
  })

  describe('what is complete before its settle time is over', () => {
    const settings = { settleMs: 30_000 }
    const complete = { ...lastLook, atMs: 880_000 }
    const at = (atMs: number, more: Partial<Look> = {}): Look => ({ ...complete, atMs, ...more })
    const end = (...later: readonly Look[]) => judge([beforeCommit, complete, ...later], { settings }).end
    const unread = { seen: { directRead: read(880_000) } }

    test('is deployed if it stays so until then, and not before', () => {
      expect(end(at(900_000), at(906_000), at(909_999))).toBeUndefined()
      expect(end(at(900_000), at(906_000), at(910_000))).toMatchObject({ status: 'deployed' })
      const { againAtMs } = judge([beforeCommit, complete, at(907_000)], { settings })
      expect(againAtMs).toBe(910_000)
    })

    test('fails as soon as it is no longer complete', () => {
      expect(end(at(900_000), at(907_000, { health: 'Progressing' }))).toMatchObject({ cause: 'timeout' })
    })

    test('needs its direct read all the same, and is aborted 4 s later without', () => {
      expect(end(at(910_000, unread), at(913_999, unread))).toBeUndefined()
      expect(end(at(910_000, unread), at(914_000, unread))).toMatchObject({ cause: 'controller_unreachable' })
    })

    test('has timed out if it was complete only after the deadline, which is said', () => {
      const late = judge([beforeCommit, at(901_000), at(906_000)], { settings }).end
      expect(late).toMatchObject({ status: 'failed', cause: 'timeout' })
      expect(late?.reason).toContain('all conditions were met, but only after the timeout')
    })
  })

  const resources = [{ kind: 'CronJob', name: 'report', status: 'Synced', images: ['registry.example/shop:v2'] }]
  test.for([
    { what: 'the look at the Pods of strict mode', fields: {}, strict: true },
    {
      what: 'what has no Pods',
      fields: { images: [], operationState: { ...succeeded, syncResult: { revision: aSha('d'), resources } } },
      strict: false,
    },
  ])(
    '$what comes after it, and a condition that needs more than looks ends the waiting',
    ({ fields, strict: isStrict }) => {
      const ofOthers = { ...lastLook, ...fields, revision: aSha('d') }
      expect(judge([beforeCommit, ofOthers], { settings: { isStrict } }).end).toBeUndefined()
      const unhealthy = { ...ofOthers, health: 'Progressing' }
      expect(judge([beforeCommit, unhealthy], { settings: { isStrict } }).end?.status).toBe('failed')
    },
  )
})
