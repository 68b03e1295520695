import { expect } from 'vitest'
import { chartFiles, type ExampleWorkload } from '../../simulator/model/example-repository.ts'
import { aTask } from '../support/service.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

type Row = {
  readonly app: string
  /** How its new Pods behave; without it as the name of the application says. */
  readonly behaviour?: string
  readonly cause: string
  readonly headline: RegExp
  /** Without them one Deployment of its image. */
  readonly workloads?: (image: string) => readonly ExampleWorkload[]
  readonly annotations?: Record<string, string>
  readonly prepare?: (world: World) => void
  /** What a person does after the submission. */
  readonly meanwhile?: (world: World) => Promise<void>
}

const canary = (image: string): readonly ExampleWorkload[] => [{ kind: 'Rollout', image, pause: true }]
const isPaused = ({ simulator }: World, app: string) =>
  expect.poll(() => simulator.control.application(app)?.status.health.status).toBe('Suspended')

const rows: readonly Row[] = [
  { app: 'create-container-error', cause: 'container_config', headline: /^Container \S+ cannot be created: / },
  { app: 'run-container-error', cause: 'container_config', headline: /^Container \S+ cannot be started: / },
  {
    app: 'unschedulable',
    cause: 'unschedulable',
    headline: /^Pod cannot be scheduled: 0\/\d nodes available, insufficient CPU/,
  },
  { app: 'claim-pending', cause: 'volume_unavailable', headline: /^PersistentVolumeClaim \S+ is not bound/ },
  {
    app: 'volume-missing',
    cause: 'container_config',
    headline: /^Volume \S+ cannot be mounted: ConfigMap \S+ not found/,
  },
  { app: 'volume-attach-error', cause: 'volume_unavailable', headline: /^Volume / },
  { app: 'init-crashes', cause: 'crash_loop', headline: /^Init container migrate crashes on start: exit code 1/ },
  { app: 'crashes-again', cause: 'crash_loop', headline: /^Container \S+ crashes on start: exit code 1/ },
  { app: 'oom-killed', cause: 'crash_loop', headline: /^Container \S+ is killed: out of memory \(limit 128Mi\)/ },
  { app: 'liveness-killed', cause: 'crash_loop', headline: /^Container \S+ is restarted: liveness probe / },
  { app: 'never-ready', cause: 'probe_failing', headline: /^Container \S+ is not ready: readiness probe returns 503/ },
  {
    app: 'quota-exceeded',
    cause: 'quota_exceeded',
    headline: /^ReplicaSet \S+ cannot create Pods: quota \S+ exceeded/,
  },
  {
    app: 'pod-security-violation',
    cause: 'admission_denied',
    headline: /^Pods of ReplicaSet \S+ are rejected by Pod Security/,
  },
  { app: 'webhook-denial', cause: 'admission_denied', headline: /webhook/ },
  {
    app: 'analysis-fails',
    workloads: (image) => [
      { kind: 'Rollout', replicas: 2, image, steps: [{ setWeight: 50 }, { analysis: 'success-rate' }] },
    ],
    cause: 'analysis_failed',
    headline: /^Rollout \S+ was aborted: metric success-rate failed/,
  },
  {
    app: 'refused-sync',
    cause: 'sync_error',
    headline: /cannot be applied|cannot apply/,
    prepare: ({ simulator }) =>
      simulator.control.failSync('refused-sync', 'admission webhook "validate.acme.example" denied the request'),
  },
  {
    app: 'hook-fails',
    behaviour: 'fails',
    workloads: (image) => [
      { kind: 'Deployment', image },
      { kind: 'Job', name: 'migrate', hook: 'PreSync', image },
    ],
    cause: 'hook_failed',
    headline: /migrate/,
  },
  {
    app: 'hook-waits',
    behaviour: 'image-pull-error',
    workloads: (image) => [
      { kind: 'Deployment', image },
      { kind: 'Job', name: 'migrate', hook: 'PreSync', image },
    ],
    cause: 'image_pull',
    headline: /^Image \S+ cannot be pulled: not found/,
  },
  {
    app: 'wave-waits',
    behaviour: 'held',
    workloads: (image) => [
      { kind: 'Deployment', name: 'db', image },
      { kind: 'Deployment', name: 'web', wave: 1, image },
    ],
    cause: 'operation_waiting',
    headline: /^The sync waits for Deployment db: /,
  },
  {
    app: 'ingress-waits',
    behaviour: 'is-well',
    workloads: (image) => [
      { kind: 'Deployment', image },
      { kind: 'Ingress', name: 'ingress' },
    ],
    prepare: ({ simulator }) => simulator.control.setPending('ingress-waits', 'Ingress', 'ingress', true),
    cause: 'timeout',
    headline: /^Ingress ingress is still Progressing/,
  },
  {
    app: 'no-alias',
    workloads: (image) => [{ kind: 'Deployment', image }],
    behaviour: 'is-well',
    annotations: { 'watcher/managed-images': 'main=registry.example/no-aliases' },
    cause: 'annotation_invalid',
    headline: /^Annotation watcher\/managed-images has no alias for registry.example\/no-alias; the nearest is main=/,
  },
  {
    app: 'canary-paused',
    workloads: canary,
    behaviour: 'is-well',
    cause: 'suspended',
    headline: /^Rollout \S+ is paused at a canary step and waits for a person/,
  },
  {
    app: 'blue-green-paused',
    workloads: (image) => [{ kind: 'Rollout', image, strategy: 'BlueGreen' }],
    behaviour: 'is-well',
    cause: 'suspended',
    headline: /^Rollout \S+ is paused before its promotion and waits for a person/,
  },
  {
    app: 'aborted-by-person',
    workloads: canary,
    behaviour: 'is-well',
    meanwhile: async (running) => {
      await isPaused(running, 'aborted-by-person')
      running.simulator.control.abortRollout('aborted-by-person', 'aborted-by-person')
    },
    cause: 'rollout_aborted',
    headline: /^Rollout \S+ was aborted/,
  },
]

type WellRow = Pick<Row, 'app' | 'workloads' | 'meanwhile'>
/** They look bad, or wait, for a while. */
const wellInTheEnd: readonly WellRow[] = [
  ...['crashes-thrice', 'starts-slowly', 'pulled-late', 'initializes-slowly'].map((app) => ({ app })),
  {
    app: 'promoted',
    workloads: canary,
    meanwhile: async (running) => {
      await isPaused(running, 'promoted')
      running.simulator.control.promoteRollout('promoted', 'promoted')
    },
  },
  {
    app: 'timed-pause',
    workloads: (image) => [{ kind: 'Rollout', image, steps: [{ setWeight: 50 }, { pause: { duration: 3 } }] }],
  },
]

let world: World
test.beforeAll(async ({ world: shared }) => {
  world = shared
  const all: readonly Pick<Row, 'app' | 'workloads' | 'annotations'>[] = [...rows, ...wellInTheEnd]
  await world.addApplications(...all.flatMap(({ app, workloads }) => (workloads === undefined ? [app] : [])))
  for (const { app, workloads, annotations } of all) {
    if (workloads === undefined) continue
    const chart = { tag: 'v1', workloads: workloads(`registry.example/${app}:\${image.tag}`) }
    await world.simulator.git.commit('gitops', chartFiles(`apps/${app}`, chart))
    await world.createManaged(app, annotations)
  }
  for (const { prepare } of rows) prepare?.(world)
})

async function endOf(
  { app, behaviour = app, meanwhile }: Pick<Row, 'app' | 'behaviour' | 'meanwhile'>,
  timeout: number,
) {
  const images = [{ image: `registry.example/${app}`, tag: `v2-${behaviour}` }]
  const id = await world.service.acceptTask(aTask({ app, images, timeout }), withToken)
  await meanwhile?.(world)
  return world.service.waitForEnd(id)
}

test.concurrent.for(rows)('$app: $cause', async (row) => {
  const task = await endOf(row, 25)
  expect(task).toMatchObject({ status: 'failed', cause: row.cause, headline: expect.stringMatching(row.headline) })
  expect(task.status_reason?.split('\n')[0]).toBe(`${task.headline} [${row.cause}]`)
})

test.concurrent.for(wellInTheEnd)('$app is deployed', async (row) => {
  expect(await endOf(row, 60)).toMatchObject({ status: 'deployed' })
})
