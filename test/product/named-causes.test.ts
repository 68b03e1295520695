import { afterAll, beforeAll, expect, test } from 'vitest'
import { chartFiles, type ExampleWorkload } from '../../simulator/model/example-repository.ts'
import { aTask } from '../support/service.ts'
import { createManaged, startWorld, type World, withToken } from '../support/world.ts'

type Row = {
  readonly app: string
  /** How its new Pods behave; without it as the name of the application says. */
  readonly behaviour?: string
  readonly cause: string
  readonly headline: RegExp
  /** Without them one Deployment of its image. */
  readonly workloads?: (image: string) => readonly ExampleWorkload[]
  readonly prepare?: (world: World) => void
}

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
]

/** They look bad for a while. */
const wellInTheEnd = ['crashes-thrice', 'starts-slowly', 'pulled-late', 'initializes-slowly']

let world: World
beforeAll(async () => {
  world = await startWorld({
    applications: [...rows.flatMap(({ app, workloads }) => (workloads === undefined ? [app] : [])), ...wellInTheEnd],
    settings: { BAD_POD_GRACE: '4s', DEGRADED_GRACE: '3s' },
    times: { progressDeadline: 5_000 },
  })
  for (const { app, workloads } of rows) {
    if (workloads === undefined) continue
    const chart = { tag: 'v1', workloads: workloads(`registry.example/${app}:\${image.tag}`) }
    await world.simulator.git.commit('gitops', chartFiles(`apps/${app}`, chart))
    await createManaged(world.simulator, app)
  }
  for (const { prepare } of rows) prepare?.(world)
})
afterAll(() => world[Symbol.asyncDispose]())

test.concurrent.for(rows)('$app: $cause', async ({ app, behaviour = app, cause, headline }) => {
  const images = [{ image: `registry.example/${app}`, tag: `v2-${behaviour}` }]
  const id = await world.service.acceptTask(aTask({ app, images, timeout: 25 }), withToken)
  const task = await world.service.waitForEnd(id)
  expect(task).toMatchObject({ status: 'failed', cause, headline: expect.stringMatching(headline) })
  expect(task.status_reason?.split('\n')[0]).toBe(`${task.headline} [${cause}]`)
})

test.concurrent.for(wellInTheEnd)('%s is deployed', async (app) => {
  const images = [{ image: `registry.example/${app}`, tag: `v2-${app}` }]
  const id = await world.service.acceptTask(aTask({ app, images, timeout: 60 }), withToken)
  expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
})
