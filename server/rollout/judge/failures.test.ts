import { describe, expect, test } from 'vitest'
import { afterGrace, atDeadline, judgeFailure } from '../../../test/support/judge-failure.ts'

type Row = {
  readonly name: string
  readonly tag: string
  readonly times: readonly number[]
  readonly cause: string
  readonly culprit: string
  readonly headline: string
}

describe('failures as a real Argo CD showed them', () => {
  test.for<Row>([
    {
      name: 'create-error',
      tag: '2-create',
      times: [20_000, 80_000, 150_000],
      cause: 'container_config',
      culprit: 'Pod web-77d8bd97-jwn8m',
      headline:
        'Container shop cannot be created: failed to mkdir "/srv/cache": mkdir /srv/cache: read-only file system',
    },
    {
      name: 'hook-pull',
      tag: '2',
      times: atDeadline,
      cause: 'image_pull',
      culprit: 'Pod migrate-jzvps',
      headline: 'Image registry.example/migrate:2-pull cannot be pulled: not found',
    },
    {
      name: 'ingress-pending',
      tag: '2',
      times: atDeadline,
      cause: 'timeout',
      culprit: 'Ingress shop',
      headline: 'Ingress shop is still Progressing',
    },
    {
      name: 'init-crash',
      tag: '2',
      times: [20_000, 80_000, 150_000],
      cause: 'crash_loop',
      culprit: 'Pod web-6f4cfbc77c-qzv2j',
      headline: 'Init container migrate crashes on start: exit code 1, 5 times',
    },
    {
      name: 'liveness',
      tag: '2-live',
      times: [20_000, 80_000, 150_000],
      cause: 'crash_loop',
      culprit: 'Pod web-689dfc64f9-bh867',
      headline: 'Container shop is restarted: liveness probe times out, 6 times',
    },
    {
      name: 'oom',
      tag: '2-oom',
      times: [20_000, 80_000, 150_000],
      cause: 'crash_loop',
      culprit: 'Pod web-64f9fcd48-gv8q6',
      headline: 'Container shop is killed: out of memory, 5 times',
    },
    {
      name: 'other-deployment',
      tag: '2',
      times: afterGrace,
      cause: 'crash_loop',
      culprit: 'Pod worker-76c94f9494-qgsls',
      headline: 'Container worker crashes on start: exit code 1, 5 times',
    },
    {
      name: 'psa',
      tag: '2',
      times: afterGrace,
      cause: 'admission_denied',
      culprit: 'ReplicaSet web-769b49cc84',
      headline: 'Pods of ReplicaSet web-769b49cc84 are rejected by Pod Security restricted: ',
    },
    {
      name: 'pvc-pending',
      tag: '2',
      times: afterGrace,
      cause: 'volume_unavailable',
      culprit: 'PersistentVolumeClaim shop-data',
      headline: 'PersistentVolumeClaim shop-data is not bound',
    },
    {
      name: 'quota',
      tag: '2',
      times: afterGrace,
      cause: 'quota_exceeded',
      culprit: 'ReplicaSet web-769b49cc84',
      headline: 'ReplicaSet web-769b49cc84 cannot create Pods: quota team exceeded (pods: 2 of 2 used)',
    },
    {
      name: 'unschedulable',
      tag: '2',
      times: afterGrace,
      cause: 'unschedulable',
      culprit: 'Pod web-5987688f58-lrs9l',
      headline: 'Pod cannot be scheduled: 0/1 nodes available, insufficient CPU',
    },
    {
      name: 'volume-configmap',
      tag: '2',
      times: afterGrace,
      cause: 'container_config',
      culprit: 'Pod web-7df6c674b7-cj5kr',
      headline: 'Volume files cannot be mounted: ConfigMap shop-files-v2 not found',
    },
    {
      name: 'wave-stuck',
      tag: '2',
      times: atDeadline,
      cause: 'operation_waiting',
      culprit: 'Deployment db',
      headline: 'The sync waits for Deployment db: Waiting for rollout to finish',
    },
    {
      name: 'webhook-down',
      tag: '2',
      times: atDeadline,
      cause: 'sync_error',
      culprit: 'Deployment web',
      headline:
        'Deployment web cannot be applied: admission webhook validate.acme.example does not answer: connection refused',
    },
  ])('$name: $cause', ({ name, tag, times, cause, culprit, headline }) => {
    const { end } = judgeFailure(name, tag, times)
    const { kind, name: blamed } = end?.diagnosis?.culprit ?? {}
    expect({ status: end?.status, cause: end?.cause, culprit: `${kind} ${blamed}` }).toEqual({
      status: 'failed',
      cause,
      culprit,
    })
    expect(end?.diagnosis?.headline).toContain(headline)
  })
})
