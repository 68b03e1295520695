import type { Cause } from '../causes.ts'
import { conditionNames } from '../conditions.ts'
import type { Condition, Culprit, Diagnosis } from '../diagnosis.ts'
import { withHeadline } from './headline.ts'
import { nextStepsFor } from './next-steps.ts'

type Example = Partial<Pick<Diagnosis, 'evidence' | 'impact' | 'superseded_by'>> & {
  readonly culprit?: Omit<Culprit, 'namespace'>
  readonly unmet?: readonly Pick<Condition, 'name' | 'expected' | 'found'>[]
}

const serving = { impact: { old_pods_ready: 2, old_pods: 2 } }
const pod = { kind: 'Pod', name: 'web-74796dcf9f-8ggf2' }
const application = (message: string) => ({ culprit: { kind: 'Application', name: 'shop', message } })
const refused = (text: string): Example => ({ evidence: [{ kind: 'not_committed', text }] })

/** One of each cause, in the words of Kubernetes, Argo CD, Argo Rollouts and Git hosts. */
const examples: Readonly<Record<Cause, Example>> = {
  app_not_found: {},
  app_gone: {},
  image_pull: {
    ...serving,
    culprit: {
      ...pod,
      container: 'web',
      reason: 'ImagePullBackOff',
      message:
        'Failed to pull image "registry.example/shop:2": rpc error: code = NotFound desc = failed to pull and unpack image "registry.example/shop:2": failed to resolve reference "registry.example/shop:2": registry.example/shop:2: not found',
    },
  },
  image_name: {
    ...serving,
    culprit: {
      ...pod,
      container: 'web',
      reason: 'InvalidImageName',
      message: 'Failed to apply default image "registry.example/shop:V_1 ": invalid reference format',
    },
  },
  container_config: {
    ...serving,
    culprit: {
      ...pod,
      container: 'web',
      reason: 'CreateContainerConfigError',
      message: 'secret "shop-database" not found',
    },
  },
  volume_unavailable: {
    ...serving,
    culprit: {
      kind: 'PersistentVolumeClaim',
      name: 'shop-data',
      reason: 'ProvisioningFailed',
      message: 'storageclass.storage.k8s.io "fast" not found',
    },
  },
  unschedulable: {
    ...serving,
    culprit: {
      ...pod,
      reason: 'FailedScheduling',
      message:
        '0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: gpu}. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.',
    },
  },
  quota_exceeded: {
    ...serving,
    culprit: {
      kind: 'ReplicaSet',
      name: 'web-769b49cc84',
      reason: 'FailedCreate',
      message:
        'pods "web-769b49cc84-s62pp" is forbidden: exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2',
    },
  },
  admission_denied: {
    ...serving,
    culprit: {
      kind: 'ReplicaSet',
      name: 'web-769b49cc84',
      reason: 'FailedCreate',
      message:
        'pods "web-769b49cc84-ptgx7" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "shop" must set securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container "shop" must set securityContext.runAsNonRoot=true)',
    },
  },
  crash_loop: {
    ...serving,
    culprit: {
      ...pod,
      container: 'web',
      reason: 'CrashLoopBackOff',
      message: 'back-off 1m20s restarting failed container=web pod=web-74796dcf9f-8ggf2',
      exit_code: 1,
      restarts: 4,
      over: 118,
    },
  },
  probe_failing: {
    ...serving,
    culprit: {
      ...pod,
      container: 'web',
      reason: 'Unhealthy',
      probe: 'readiness',
      message: 'Readiness probe failed: HTTP probe failed with statuscode: 503',
    },
  },
  degraded: {
    culprit: { kind: 'Deployment', name: 'worker', message: 'Deployment "worker" exceeded its progress deadline' },
  },
  hook_failed: {
    culprit: { kind: 'Job', name: 'migrate', message: 'Job has reached the specified backoff limit' },
  },
  operation_waiting: {
    culprit: { kind: 'Job', name: 'migrate', message: 'waiting for completion of hook batch/Job/migrate' },
    unmet: [
      {
        name: 'operation',
        expected: 'a successful operation',
        found: 'Running: waiting for completion of hook batch/Job/migrate',
      },
    ],
  },
  sync_error: {
    culprit: {
      kind: 'Deployment',
      name: 'shop05',
      message:
        'error when patching "/dev/shm/256253623": Deployment.apps "shop05" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable',
    },
  },
  terminated: application('Operation terminated'),
  comparison_error: application(
    'ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = error getting app source type: multiple application sources defined: Kustomize,Helm',
  ),
  image_not_in_application: application('registry.example/shop is not among its images: registry.example/cart:v1'),
  commit_without_effect: application('the manifests still declare registry.example/shop:1.0.0'),
  not_followed: refused('no source of the application follows the branch "release"'),
  sync_window: application('automated sync is blocked by an active deny window "0 22 * * *" of 8h'),
  manual_sync_required: {},
  auto_sync_stopped: application(
    'Failed last sync attempt to [c8793b53512c13e51aaa3d6e8df598002031872d]: one or more objects failed to apply, reason: error when patching "/dev/shm/256253623": Deployment.apps "shop05" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable (retried 1 times).',
  ),
  suspended: {
    ...serving,
    culprit: { kind: 'Rollout', name: 'shop', reason: 'CanaryPauseStep', message: 'CanaryPauseStep' },
    unmet: [{ name: 'healthy', expected: 'Healthy', found: 'Suspended' }],
  },
  rollout_aborted: {
    ...serving,
    culprit: {
      kind: 'Rollout',
      name: 'shop',
      reason: 'RolloutAborted',
      message: 'RolloutAborted: Rollout aborted update to revision 3',
    },
  },
  analysis_failed: {
    ...serving,
    culprit: {
      kind: 'AnalysisRun',
      name: 'shop-7d9f8c6b5-3-1',
      reason: 'RolloutAborted',
      metric: 'success-rate',
      message:
        'RolloutAborted: Rollout aborted update to revision 3: Step-based analysis phase error/failed: Metric "success-rate" assessed Failed due to failed (2) > failureLimit (1)',
    },
  },
  timeout: { ...serving, culprit: { kind: 'Ingress', name: 'shop', message: '' } },
  controller_unreachable: {
    evidence: [{ kind: 'unreachable', since: 600, message: 'connection refused' }],
  },
  controller_silent: {},
  superseded: { superseded_by: { task: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11' } },
  cancelled: {},
  no_credential: refused(
    'nothing was committed: the application is managed, but the task came without a valid credential',
  ),
  not_managed: refused('nothing was committed: no annotation managed = "true" on the application'),
  annotation_invalid: refused('missing annotation web.helm.image-tag for alias "web"'),
  setting_missing: refused('GIT_CREDENTIALS has no entry for git.example'),
  git_refused: refused('remote: GitLab: You are not allowed to push code to protected branches'),
  git_access_denied: refused('git.example denied access: git@git.example: Permission denied (publickey).'),
  git_host_key: refused('host key unknown for git.example: SSH_KNOWN_HOSTS does not name it, add it'),
  git_repository_missing: refused('git.example has no repository at this address that the key or token can see'),
  git_unreachable: refused(
    'nothing was committed before the timeout: git.example cannot be reached: ssh: connect to host git.example port 22: Connection refused',
  ),
  cache_unusable: refused('the cache cannot be written: No space left on device'),
  override_file_invalid: refused(
    'the file deploy/shop/.argocd-source-shop.yaml must have a list under helm.parameters',
  ),
  values_key_missing: refused(
    'the file deploy/shop/values-prod.yaml has no image.tag: the nearest that exists is image, with repository, pullPolicy',
  ),
  rollback_outdated: refused('apps/shop/values.yaml has image.tag 1.3.0, not 1.2.0 of the failed deployment'),
  no_replica: {},
}

/** Fifteen minutes after the task was created; its conditions are as they were for the last five of them. */
export const exampleEndSeconds = 900
const sinceSeconds = 600

export function exampleDiagnosis(cause: Cause): Diagnosis {
  const { culprit, unmet = [], evidence = [], ...more } = examples[cause]
  const blamed = culprit && { namespace: 'shop', ...culprit }
  return withHeadline({
    conditions: conditionNames.map((name) => {
      const one = unmet.find((condition) => condition.name === name)
      return { name, state: one === undefined ? 'met' : 'not_met', since: sinceSeconds, ...one }
    }),
    cause,
    ...(blamed === undefined ? {} : { culprit: blamed }),
    evidence: [...evidence],
    next_steps: [...nextStepsFor(cause, blamed)],
    links: [],
    ...more,
  })
}
