import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually } from '../test/support/eventually.ts'
import { startControlServer } from './control/control-server.ts'
import { chartFiles, overrideFile } from './model/example-repository.ts'
import { podSecret } from './model/live-pod.ts'
import { fastTimes } from './model/simulator-times.ts'
import { type Simulator, startSimulator } from './simulator.ts'

const opened = new AsyncDisposableStack()
let simulator: Simulator
let controlUrl: string

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simulator-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  simulator = opened.use(await startSimulator({ folder, times: { ...fastTimes, podReady: [20, 30] }, seed: 1 }))
  controlUrl = opened.use(await startControlServer(simulator)).url
  const image = `registry.example/shop:\${image.tag}`
  const workloads = [
    { kind: 'Rollout', image, pause: true },
    { kind: 'Ingress' },
    { kind: 'ConfigMap', prune: 'confirm' },
  ]
  await simulator.git.createRepository('gitops', chartFiles('shop', { workloads }))
  await simulator.control.createApplication({
    name: 'shop',
    source: { repository: 'gitops', path: 'shop', targetRevision: 'main' },
    syncPolicy: { automated: { prune: true, selfHeal: true }, retry: { limit: 1 } },
  })
})
afterAll(() => opened.disposeAsync())

async function read(path: string): Promise<{ status: number; body: unknown }> {
  const headers = { Authorization: `Bearer ${simulator.argoToken}` }
  const answer = await fetch(`${simulator.argoUrl}/api/v1/applications/shop${path}`, { headers })
  return { status: answer.status, body: await answer.json() }
}

async function command(name: string, body: unknown): Promise<void> {
  const answer = await fetch(`${controlUrl}/${name}`, { method: 'POST', body: JSON.stringify(body) })
  expect(await answer.json()).toEqual({ result: null })
}

async function deploy(tag: string): Promise<void> {
  await simulator.git.commit('gitops', { 'shop/.argocd-source-shop.yaml': overrideFile(tag) })
  await read('?refresh=normal')
}

const Tree = z.object({
  nodes: z.array(z.looseObject({ kind: z.string(), name: z.string(), health: z.unknown().optional() })),
})
const nodeOf = async (kind: string) =>
  Tree.parse((await read('/resource-tree')).body).nodes.find((node) => node.kind === kind)
const operation = () => simulator.control.application('shop')?.status.operationState
const resourcePath = (name: string | undefined) =>
  `/resource?namespace=shop&resourceName=${name}&version=v1&group=&kind=Pod`

test('a live Pod is JSON in a string; a fault of its own refuses it', async () => {
  const path = resourcePath((await nodeOf('Pod'))?.name)
  const { status, body } = await read(path)
  expect(status).toBe(200)
  const { manifest } = z.strictObject({ manifest: z.string() }).parse(body)
  expect(JSON.parse(manifest)).toMatchObject({
    kind: 'Pod',
    spec: { containers: [{ resources: { limits: { memory: '128Mi' } } }] },
    status: { containerStatuses: [{ name: 'web', restartCount: 0, ready: true }] },
  })
  expect(manifest).toContain(podSecret)
  expect(await read(resourcePath('other'))).toMatchObject({
    status: 400,
    body: { message: 'Pod  other not found as part of application shop' },
  })
  await command('addHttpFault', { calls: ['resource'], times: 1, action: { kind: 'error', status: 403 } })
  expect(await read(path)).toEqual({
    status: 403,
    body: { error: 'permission denied', code: 7, message: 'permission denied' },
  })
  expect((await read(path)).status).toBe(200)
})

test('failures are played over the control port', async () => {
  await command('setPending', { application: 'shop', kind: 'Ingress', name: 'shop', isPending: true })
  expect((await nodeOf('Ingress'))?.health).toEqual({ status: 'Progressing' })
  await command('setPending', { application: 'shop', kind: 'Ingress', name: 'shop', isPending: false })
  expect((await nodeOf('Ingress'))?.health).toEqual({ status: 'Healthy' })

  await command('failSync', { application: 'shop', message: 'denied' })
  await deploy('2')
  const failed = 'one or more objects failed to apply, reason: denied (retried 1 times).'
  await eventually(() => expect(operation()).toMatchObject({ phase: 'Failed', message: failed }))
  await command('failSync', { application: 'shop' })

  await deploy('3')
  const suspended = { status: 'Suspended', message: 'CanaryPauseStep' }
  await eventually(async () => expect((await nodeOf('Rollout'))?.health).toEqual(suspended))
  await command('abortRollout', { application: 'shop', rollout: 'shop', form: 'metric' })
  const aborted = { status: 'Degraded', message: expect.stringMatching(/^RolloutAborted: .* revision 2: Metric/) }
  await eventually(async () => expect((await nodeOf('Rollout'))?.health).toEqual(aborted))
  await command('retryRollout', { application: 'shop', rollout: 'shop' })
  await eventually(async () => expect((await nodeOf('Rollout'))?.health).toEqual(suspended))
  await command('promoteRollout', { application: 'shop', rollout: 'shop' })
  await eventually(async () => expect((await nodeOf('Rollout'))?.health).toEqual({ status: 'Healthy' }))

  const workloads = [{ kind: 'Rollout', image: 'registry.example/shop:4', pause: true }, { kind: 'Ingress' }]
  await simulator.git.commit('gitops', { 'shop/workloads.yaml': JSON.stringify({ workloads }) })
  await read('?refresh=normal')
  const waiting = 'waiting for pruning confirmation of /ConfigMap/shop'
  await eventually(() => expect(operation()).toMatchObject({ phase: 'Running', message: waiting }))
  await command('approvePruning', { application: 'shop' })
  await eventually(() => expect(operation()).toMatchObject({ phase: 'Succeeded' }))
})
