import { describe, expect, test } from 'vitest'
import { type Cause, causeCodes, causeOf } from '../../../../contract/causes.ts'
import { bareDiagnosis } from '../../../../contract/diagnosis.ts'
import { repository } from '../../../../test/support/application-builder.ts'
import { afterGrace, atDeadline, judgeFailure } from '../../../../test/support/judge-failure.ts'
import {
  beforeCommit,
  commit,
  failedOperation,
  judge,
  type Look,
  pod,
  succeeded,
  tree,
} from '../../../../test/support/judge-looks.ts'
import { type Replay, replayRecording } from '../../../../test/support/replay-recording.ts'
import { anEvent, eventsOf } from '../../../../test/support/resource-events.ts'
import { cancelledAs } from '../../../deployments/own/end-task.ts'
import type { TaskResult } from '../../../deployments/task.ts'
import { overdueResult } from '../../../write-back/decide/write-result.ts'
import { describeGitFailure, type GitFailure } from '../../../write-back/git/access/git-error.ts'
import { nothingKnown } from '../../observed/newest-snapshots.ts'
import type { WriteBackState } from '../input/watched-task.ts'

type Report = () => Promise<TaskResult | undefined> | TaskResult | undefined

const shop = 'registry.example/shop'

/** The end of the first task of a recording of a real Argo CD. */
const recorded =
  (name: string, tag: string, commit: string, pushedAtMs: number, more: Partial<Replay> = {}): Report =>
  async () => {
    const tasks = [{ image: shop, tag, commit, acceptedAtMs: -1_000, pushedAtMs }]
    return (await replayRecording(name, { tasks, ...more }))[0]?.end
  }

/** The end of a task that the last look decides. */
const judged =
  (looks: readonly Look[], how: Parameters<typeof judge>[1] = {}): Report =>
  () =>
    judge([beforeCommit, ...looks], how).end

const rejected = (cause: Cause, reason: string): WriteBackState => ({
  kind: 'ended',
  atMs: 0,
  outcome: { kind: 'refused', cause, reason },
})
const refused = (cause: Cause, reason: string): Report => judged([], { writeBack: rejected(cause, reason) })

const gitSays = (failure: GitFailure, stderr: string) => describeGitFailure(failure, 'git.example', stderr)

const newPod = { name: 'shop-7d9f8c6b5-abcde', uid: 'p2', namespace: 'shop' }
const oldPod = pod('Running', { name: 'shop-5c4b7f9d8-fghij', uid: 'p1', images: [`${shop}:v1`] })
const withBadPod = (reason: string, message: string, more: object = {}): readonly Look[] =>
  [60_000, 125_000, 190_000].map((atMs) => ({
    atMs,
    health: 'Progressing',
    images: [`${shop}:v1`, `${shop}:v2`],
    seen: {
      tree: tree([oldPod, pod(reason, { ...newPod, health: { status: 'Progressing', message }, ...more })], atMs),
    },
  }))
const slow: Look = { atMs: 30_000, health: 'Progressing', images: [`${shop}:v1`] }
const outOfSync = { sync: 'OutOfSync', images: [`${shop}:v1`] }
const lasting = (look: Omit<Look, 'atMs'>, untilMs: number): readonly Look[] => [
  { ...look, atMs: 30_000 },
  { ...look, atMs: untilMs },
]
const without = (why: 'no_credential' | 'not_managed', note: string): Report =>
  judged(lasting({ images: [`${shop}:v1`] }, 900_000), { writeBack: { kind: 'monitor', why, note } })

const failed =
  (name: string, times: readonly number[]): Report =>
  () =>
    judgeFailure(name, '2', times).end

/** A refresh was requested and its annotation stays. */
const unanswered = (atMs: number): Look => ({
  ...beforeCommit,
  atMs,
  metadata: { annotations: { 'argocd.argoproj.io/refresh': 'normal' } },
})

const aborted = (atMs: number, message: string): Look => {
  const rollout = { group: 'argoproj.io', kind: 'Rollout', namespace: 'shop', name: 'shop' }
  const revision = [{ name: 'Revision', value: 'Rev:2' }]
  const run = { group: 'argoproj.io', kind: 'AnalysisRun', namespace: 'shop', name: 'shop-5f7d9-2', uid: 'ar' }
  const nodes = [
    { ...rollout, uid: 'r', info: revision },
    { ...run, parentRefs: [{ uid: 'r' }], health: { status: 'Degraded' } },
    { ...oldPod, namespace: 'shop' },
  ]
  return {
    atMs,
    health: 'Degraded',
    images: [`${shop}:v1`],
    operationState: succeeded,
    status: { resources: [{ ...rollout, status: 'Synced', health: { status: 'Degraded', message } }] },
    seen: { tree: tree(nodes, atMs) },
  }
}

const reports: Readonly<Record<Cause, Report>> = {
  app_not_found: () => {
    const known = { ...nothingKnown, absences: 2, absentAskedAtMs: 2_000 }
    const look: Look = { atMs: 3_000, seen: { known, directRead: { askedAtMs: 3_000, result: 'missing' } } }
    return judge([look], { writeBack: { kind: 'undecided' } }).end
  },
  app_gone: recorded('10-deleted-while-watched', '1.0.1', '23aad08', 480),
  image_pull: recorded('03-image-pull-backoff', '1.0.1-bad', '5a76d3e', 70, {
    untilMs: 28_000,
    podEvents: [
      anEvent(
        `Failed: Failed to pull image "${shop}:1.0.1-bad": rpc error: code = NotFound desc = ${shop}:1.0.1-bad: not found`,
      ),
      anEvent('Failed: Error: ErrImagePull'),
    ],
  }),
  image_name: judged(
    withBadPod('InvalidImageName', `Failed to apply default image "${shop}:V_1 ": invalid reference format`),
  ),
  container_config: judged(withBadPod('CreateContainerConfigError', 'secret "shop-database" not found')),
  crash_loop: recorded('04-crash-loop', '1.0.1-crash', '3058b3e', 30),
  probe_failing: judged([
    ...withBadPod('Running', ''),
    {
      atMs: 900_000,
      health: 'Progressing',
      images: [`${shop}:v1`, `${shop}:v2`],
      seen: {
        tree: tree([oldPod, pod('Running', { ...newPod, health: { status: 'Progressing' } })], 899_000),
        events: eventsOf('p2', ['Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503'], 899_000),
      },
    },
  ]),
  degraded: judged(
    lasting(
      {
        health: 'Degraded',
        status: {
          resources: [
            {
              group: 'apps',
              kind: 'Deployment',
              namespace: 'shop',
              name: 'shop',
              status: 'Synced',
              health: { status: 'Degraded', message: 'Deployment "shop" exceeded its progress deadline' },
            },
          ],
        },
      },
      90_000,
    ),
  ),
  hook_failed: recorded('06b-postsync-hook-fails', '1.0.1', '2058498', 30),
  sync_error: recorded('05-sync-error', '1.0.1', 'c8793b5', 250, { untilMs: 11_900 }),
  terminated: judged(
    lasting({ ...outOfSync, operationState: { ...failedOperation, message: 'Operation terminated' } }, 45_000),
  ),
  comparison_error: recorded('14-comparison-error', '1.0.1', '46755ff', 40, { untilMs: 2_300 }),
  image_not_in_application: judged([
    {
      atMs: 30_000,
      images: ['registry.example/cart:v1'],
      seen: {
        managed: {
          askedAtMs: 29_000,
          version: 10,
          value: {
            liveImages: ['registry.example/cart:v1'],
            declaredImages: ['registry.example/cart:v1'],
            hasForeignKinds: false,
          },
        },
      },
    },
  ]),
  commit_without_effect: recorded('16-manifest-generate-paths', '1.0.1', '030cf72', 170, { untilMs: 6_000 }),
  not_followed: refused('not_followed', 'no source of the application follows the branch "release"'),
  sync_window: recorded('20-sync-window', '1.0.1', '014f44d', 220, { untilMs: 17_000 }),
  manual_sync_required: recorded('13-manual-sync', '1.0.1', 'e31b993', 20, { untilMs: 6_200 }),
  auto_sync_stopped: judged(
    lasting(
      {
        ...outOfSync,
        status: {
          sync: { status: 'OutOfSync', revision: commit },
          conditions: [
            {
              type: 'SyncError',
              message: `Failed last sync attempt to ${commit}: one or more objects failed to apply (retried 5 times).`,
            },
          ],
        },
      },
      45_000,
    ),
  ),
  suspended: judged(lasting({ health: 'Suspended' }, 900_000)),
  timeout: recorded('04b-crash-after-ready', '1.0.1-flap', '5d4fe02', 30),
  controller_unreachable: judged([
    slow,
    {
      ...slow,
      atMs: 900_000,
      seen: { unreachable: { sinceMs: 600_000, why: 'connection refused' }, directRead: undefined },
    },
  ]),
  superseded: recorded('12-superseded', '1.0.1', '2592c8c', 220, {
    tasks: [
      { image: shop, tag: '1.0.1', commit: '2592c8c', acceptedAtMs: -1_000, pushedAtMs: 220 },
      { image: shop, tag: '1.0.2', commit: 'fe4399d', acceptedAtMs: 2_200, pushedAtMs: 2_300 },
    ],
  }),
  cancelled: () => cancelledAs(bareDiagnosis('cancelled')),
  no_credential: without(
    'no_credential',
    'nothing was committed: the application is managed, but the task came without a valid credential',
  ),
  not_managed: without('not_managed', 'nothing was committed: no annotation managed = "true" on the application'),
  annotation_invalid: refused('annotation_invalid', 'missing annotation web.helm.image-tag for alias "web"'),
  setting_missing: refused('setting_missing', 'GIT_CREDENTIALS has no entry for git.example'),
  git_refused: refused('git_refused', 'remote: GitLab: You are not allowed to push code to protected branches'),
  git_access_denied: refused(
    'git_access_denied',
    gitSays('access_denied', 'git@git.example: Permission denied (publickey).'),
  ),
  git_host_key: refused('git_host_key', gitSays('host_key', 'Host key verification failed.')),
  git_repository_missing: refused(
    'git_repository_missing',
    gitSays('repository_missing', 'ERROR: Repository not found.'),
  ),
  cache_unusable: refused('cache_unusable', 'the cache cannot be written: No space left on device'),
  git_unreachable: judged([], {
    writeBack: {
      kind: 'ended',
      atMs: 900_000,
      outcome: overdueResult({
        taskId: '1',
        state: 'queued',
        lastReason: gitSays('unreachable', 'ssh: connect to host git.example port 22: Connection refused'),
      }).outcome,
    },
  }),
  override_file_invalid: refused(
    'override_file_invalid',
    'the file deploy/shop/.argocd-source-shop.yaml must have a list under helm.parameters',
  ),
  values_key_missing: refused(
    'values_key_missing',
    'the file deploy/shop/values-prod.yaml has no image.tag: the nearest that exists is image, with repository, pullPolicy',
  ),
  unschedulable: failed('unschedulable', afterGrace),
  volume_unavailable: failed('pvc-pending', afterGrace),
  quota_exceeded: failed('quota', afterGrace),
  admission_denied: failed('psa', afterGrace),
  operation_waiting: failed('wave-stuck', atDeadline),
  controller_silent: judged([20_000, 890_000, 900_000, 900_500].map(unanswered)),
  rollout_aborted: judged(
    [20_000, 21_000].map((atMs) => aborted(atMs, 'RolloutAborted: Rollout aborted update to revision 2')),
  ),
  analysis_failed: judged(
    [20_000, 21_000].map((atMs) =>
      aborted(
        atMs,
        'RolloutAborted: Rollout aborted update to revision 2: Metric "success-rate" assessed Failed due to failed (2) > failureLimit (1)',
      ),
    ),
  ),
  rollback_outdated: refused(
    'rollback_outdated',
    'apps/shop/values.yaml has image.tag 1.3.0, not 1.2.0 of the failed deployment',
  ),
  no_replica: judged([{ ...slow, atMs: 900_000 }], { task: { isOverdue: true } }),
}

describe('the whole report of every cause (npx vitest run -u server/rollout/judge/report/reports.test.ts)', () => {
  test.for(causeCodes)('%s', async (cause) => {
    const end = await reports[cause]()
    expect(end).toMatchObject({ cause, status: causeOf(cause).status })
    await expect(`${end?.reason}\n`).toMatchFileSnapshot(`reports/${cause}.txt`)
  })
})

test('a write-back that failed is said by its message alone, and links to the application that was seen', () => {
  const diagnosis = judge([beforeCommit], { writeBack: rejected('git_refused', 'a branch rule') }).end?.diagnosis
  expect(diagnosis).toMatchObject({
    evidence: [{ kind: 'not_committed', text: 'a branch rule' }],
    links: [{ kind: 'application', url: expect.stringContaining('/applications/argocd/shop') }],
  })
  expect(diagnosis).not.toHaveProperty('culprit')
})

test.for([
  { kind: 'landed', named: commit.slice(0, 7) },
  { kind: 'unchanged', named: undefined },
] as const)('a report names the commit of a task whose write-back $kind: $named', ({ kind, named }) => {
  const writeBack = { kind: 'ended', outcome: { kind, commit, repository, branch: 'main' }, atMs: 0 } as const
  const { end } = judge([{ ...slow, atMs: 900_000 }], { writeBack, task: { isOverdue: true } })
  const evidence = end?.diagnosis?.evidence.find((one) => one.kind === 'revision')
  expect(evidence?.commit).toBe(named)
})
