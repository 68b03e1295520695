import { describe, expect, test } from 'vitest'
import { type Cause, causeCodes } from '../causes.ts'
import type { Culprit } from '../diagnosis.ts'
import { exampleDiagnosis } from './example-diagnoses.ts'
import { maxHeadlineLength } from './fit-headline.ts'
import { renderHeadline } from './headline.ts'

type Blamed = Partial<Culprit>
const culprit = (blamed: Blamed): Culprit => ({ kind: 'Pod', namespace: 'shop', name: 'web-1', message: '', ...blamed })

describe('the headline of a culprit', () => {
  test.for<readonly [Cause, Blamed, string]>([
    [
      'crash_loop',
      {
        container: 'web',
        reason: 'OOMKilled',
        memory_limit: '128Mi',
        exit_code: 137,
        restarts: 4,
        over: 118,
        message:
          'back-off 2m40s restarting failed container=shop pod=web-64f9fcd48-gv8q6_oom(a05b1d1d-f83d-490f-8e45-fa38a9c01d66)',
      },
      'Container web is killed: out of memory (limit 128Mi), 4 times in 2 min',
    ],
    ['crash_loop', { container: 'web', reason: 'OOMKilled' }, 'Container web is killed: out of memory'],
    [
      'crash_loop',
      {
        container: 'web',
        reason: 'Unhealthy',
        probe: 'liveness',
        restarts: 6,
        over: 279,
        message:
          'Unhealthy: Liveness probe failed: Get "http://10.0.0.7:8080/healthz": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
      },
      'Container web is restarted: liveness probe times out, 6 times in 5 min',
    ],
    [
      'crash_loop',
      { container: 'web', message: 'Liveness probe failed: HTTP probe failed with statuscode: 503' },
      'Container web is restarted: liveness probe fails (503)',
    ],
    [
      'crash_loop',
      { container: 'migrate', is_init: true, reason: 'Init:CrashLoopBackOff', exit_code: 1 },
      'Init container migrate crashes on start: exit code 1',
    ],
    ['crash_loop', { container: 'web', exit_code: 0, restarts: 1 }, 'Container web ends on start: exit code 0'],
    ['crash_loop', { restarts: 3, over: 40 }, 'A container of Pod web-1 crashes on start: 3 times in 40 s'],
    [
      'crash_loop',
      { container: 'worker', exit_code: 1, before_deployment: true },
      'Container worker crashes on start (since before this deployment): exit code 1',
    ],
    ['probe_failing', {}, 'A container of Pod web-1 is not ready: readiness probe has not succeeded'],
    [
      'probe_failing',
      { container: 'web', message: 'Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503' },
      'Container web is not ready: readiness probe returns 503',
    ],
    [
      'image_pull',
      { message: 'Back-off pulling image "registry.example/shop:2"' },
      'Image registry.example/shop:2 cannot be pulled',
    ],
    ['image_pull', { container: 'web', message: 'ErrImagePull' }, 'Image of container web cannot be pulled'],
    [
      'image_pull',
      {
        message:
          'Failed to pull image "123456789012.dkr.ecr.eu-central-1.amazonaws.com/team/storefront/checkout-api:2026.11.28-4f3c1d2e5b6a": rpc error: code = Unknown desc = unexpected status: 403 Forbidden',
      },
      'Image …/team/storefront/checkout-api:2026.11.28-4f3c1d2e5b6a cannot be pulled: access denied',
    ],
    [
      'container_config',
      {
        container: 'shop',
        reason: 'CreateContainerError',
        message:
          'CreateContainerError: failed to generate container "9f2c4d0a1be7" spec: failed to generate spec: failed to mkdir "/srv/cache": mkdir /srv/cache: read-only file system',
      },
      'Container shop cannot be created: failed to mkdir "/srv/cache": mkdir /srv/cache: read-only file system',
    ],
    [
      'container_config',
      {
        reason: 'RunContainerError',
        container: 'shop',
        message: 'OCI runtime create failed: exec: "/app/serve": stat /app/serve: no such file or directory: unknown',
      },
      'Container shop cannot be started: /app/serve: no such file or directory',
    ],
    [
      'container_config',
      {
        reason: 'FailedMount',
        message: 'MountVolume.SetUp failed for volume "files" : configmap "shop-files-v2" not found',
      },
      'Volume files cannot be mounted: ConfigMap shop-files-v2 not found',
    ],
    [
      'container_config',
      {
        reason: 'FailedCreatePodSandBox',
        message:
          'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "9f2c": plugin type="calico" failed (add): no more free IPs',
      },
      'Pod web-1 cannot be started: plugin type="calico" failed (add): no more free IPs',
    ],
    [
      'volume_unavailable',
      {
        reason: 'FailedScheduling',
        message: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
      },
      'Pod waits for a volume: a PersistentVolumeClaim is not bound',
    ],
    [
      'volume_unavailable',
      {
        kind: 'PersistentVolumeClaim',
        name: 'shop-data',
        message: '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
      },
      'PersistentVolumeClaim shop-data is not bound',
    ],
    [
      'admission_denied',
      {
        kind: 'ReplicaSet',
        name: 'web-769b49cc84',
        message: 'admission webhook "validate.acme.example" denied the request: no owner label',
      },
      'Pods of ReplicaSet web-769b49cc84 are rejected by admission webhook validate.acme.example: no owner label',
    ],
    [
      'admission_denied',
      {
        kind: 'ReplicaSet',
        name: 'web-769b49cc84',
        message:
          'Internal error occurred: failed calling webhook "validate.acme.example": failed to call webhook: Post "https://127.0.0.1:9/validate?timeout=3s": dial tcp 127.0.0.1:9: connect: connection refused',
      },
      'ReplicaSet web-769b49cc84 cannot create Pods: admission webhook validate.acme.example does not answer: connection refus…',
    ],
    [
      'operation_waiting',
      {
        kind: 'Deployment',
        name: 'db',
        message: 'Waiting for rollout to finish: 1 old replicas are pending termination...',
      },
      'The sync waits for Deployment db: Waiting for rollout to finish: 1 old replicas are pending termination...',
    ],
    [
      'operation_waiting',
      {
        kind: 'Deployment',
        name: 'db',
        message: 'waiting for healthy state of apps/Deployment/db and 1 more resources',
      },
      'The sync waits for Deployment db and 1 more resources to become healthy',
    ],
    [
      'operation_waiting',
      { kind: 'Pod', name: 'my-pod', message: 'waiting for pruning confirmation of /Pod/my-pod' },
      'The sync waits for pruning confirmation: Pod my-pod',
    ],
    [
      'operation_waiting',
      { kind: 'Job', name: 'migrate', message: 'waiting for deletion of hook batch/Job/migrate' },
      'The sync waits for hook Job migrate to be deleted',
    ],
    [
      'degraded',
      {
        kind: 'Deployment',
        name: 'worker',
        message: 'Deployment "worker" exceeded its progress deadline',
        before_deployment: true,
      },
      'Deployment worker is Degraded (since before this deployment): exceeded its progress deadline',
    ],
    ['degraded', { kind: 'Application', name: 'shop' }, 'The application is Degraded'],
    [
      'sync_error',
      {
        kind: 'Application',
        message:
          'one or more objects failed to apply, reason: error when patching "/dev/shm/2262653794": Internal error occurred: failed calling webhook "validate.acme.example": failed to call webhook: Post "https://127.0.0.1:9/validate?timeout=3s": dial tcp 127.0.0.1:9: connect: connection refused. Retrying attempt #5 at 6:50PM.',
      },
      'Argo CD cannot apply the manifests: admission webhook validate.acme.example does not answer: connection refused',
    ],
    [
      'comparison_error',
      {
        kind: 'Application',
        message:
          "ComparisonError: Failed to load target state: rpc error: code = Unknown desc = unable to resolve 'main' to a commit SHA",
      },
      'Argo CD cannot compare: the repository has no branch, tag or commit main',
    ],
    [
      'hook_failed',
      {
        kind: 'Job',
        name: 'migrate',
        message:
          'one or more objects failed to apply, reason: Job.batch "migrate" is invalid: spec.template: field is immutable (retried 1 times).',
      },
      'Hook Job migrate failed: spec.template: field is immutable',
    ],
    [
      'hook_failed',
      { kind: 'Pod', name: 'migrate-x', message: 'container "job" failed with exit code 3' },
      'Hook Pod migrate-x failed: container "job" failed with exit code 3',
    ],
    [
      'suspended',
      { kind: 'CronJob', name: 'nightly', message: 'CronJob is suspended' },
      'CronJob nightly is Suspended: CronJob is suspended',
    ],
    [
      'suspended',
      { kind: 'Rollout', name: 'shop', reason: 'BlueGreenPause', message: 'BlueGreenPause' },
      'Rollout shop is paused before its promotion and waits for a person',
    ],
    [
      'rollout_aborted',
      {
        kind: 'Rollout',
        name: 'shop',
        message:
          'RolloutAborted: Rollout aborted update to revision 2: Metric "success-rate" assessed Failed due to failed (2) > failureLimit (1)',
      },
      'Rollout shop was aborted: metric success-rate failed (2 > limit 1)',
    ],
    [
      'analysis_failed',
      { kind: 'AnalysisRun', name: 'odd', metric: 'p95' },
      'The rollout was aborted: metric p95 failed',
    ],
    ['timeout', { reason: 'ContainerCreating' }, 'Pod web-1 is still ContainerCreating'],
    [
      'annotation_invalid',
      { kind: 'Application', message: 'missing annotation web.helm.image-tag' },
      'An annotation of the application is not valid: missing annotation web.helm.image-tag',
    ],
  ])('%s %o: %s', ([cause, blamed, line]) => expect(renderHeadline({ cause, culprit: culprit(blamed) })).toBe(line))
})

test('a timeout without a culprit names what was waited for', () => {
  const conditions = [
    { name: 'revision', state: 'met', since: 0 } as const,
    { name: 'healthy', state: 'not_met', since: 0, expected: 'Healthy', found: 'Progressing' } as const,
  ]
  expect(renderHeadline({ cause: 'timeout', conditions })).toBe(
    'Timed out waiting for the application to become healthy: found Progressing',
  )
})

describe('a headline of at most 120 characters', () => {
  const long = (text: string) => text.repeat(3_000)
  const name = 'n'.repeat(250)

  test.for(causeCodes)('%s has one, with hostile texts or none', (cause) => {
    const hostile = culprit({
      kind: long('K'),
      name: long('n\u2028'),
      container: long('c'),
      reason: long('R'),
      metric: long('m'),
      memory_limit: long('9'),
      message: `Failed to pull image "${long('💥')}": ${long('ö: \n"')}`,
      restarts: 1e9,
      over: 1e12,
    })
    const evidence = [{ kind: 'not_committed' as const, text: long('ä\n') }]
    for (const told of [{ cause, culprit: hostile }, { cause, evidence }, { cause }, exampleDiagnosis(cause)]) {
      const line = renderHeadline(told)
      expect(line).toMatch(/^\S.*\S$/)
      expect(line.length).toBeLessThanOrEqual(maxHeadlineLength)
      expect(line.isWellFormed()).toBe(true)
    }
  })

  test.for<readonly [Cause, Blamed, RegExp]>([
    [
      'crash_loop',
      { container: 'c'.repeat(63), reason: 'OOMKilled', memory_limit: '128Mi', restarts: 4, over: 118 },
      /^Container c{63} is killed: out of memory \(limit 128Mi\)$/,
    ],
    [
      'probe_failing',
      { container: 'c'.repeat(63), message: `Readiness probe failed: ${'no '.repeat(99)}` },
      /^Container c{63} is not ready: readiness probe fails: (?:no )+.*…$/,
    ],
    [
      'quota_exceeded',
      {
        kind: 'ReplicaSet',
        name,
        message: 'exceeded quota: team, requested: pods=1, used: pods=2, limited: pods=2',
      },
      /^ReplicaSet n+…n+ cannot create Pods: quota team exceeded \(pods: 2 of 2 used\)$/,
    ],
    [
      'image_pull',
      { message: `Failed to pull image "registry.example/${name}:2": not found` },
      /^Image …\/n+…n+:2 cannot be pulled: not found$/,
    ],
    [
      'degraded',
      { kind: 'Deployment', name: 'worker', message: 'x'.repeat(300) },
      /^Deployment worker is Degraded: x+…$/,
    ],
  ])('%s loses the end of its message, then the middle of a name, never its reason', ([cause, blamed, line]) => {
    const text = renderHeadline({ cause, culprit: culprit(blamed) })
    expect(text).toMatch(line)
    expect(text.length).toBeLessThanOrEqual(maxHeadlineLength)
  })
})
