import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Application, refreshAnnotation } from './application.ts'
import { withResourceHealth } from './compare-state.ts'
import { renderResourceTree } from './render-resource-tree.ts'
import { createVirtualWorld, type VirtualWorld } from './virtual-world.ts'

const recordings = new URL('../../test/fixtures/argocd/', import.meta.url)

/** The objects of a recorded stream, as the product sent them. */
function recordedStates(scenario: string): Application[] {
  const lines = readFileSync(new URL(`${scenario}/stream.jsonl`, recordings), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line).result.application)
}

/** Member names in their order, at any depth; of lists only the first entry. */
function members(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return members(value[0], `${at}[]`)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .filter(([key, inner]) => inner !== undefined && key !== 'kubectl.kubernetes.io/last-applied-configuration')
    .flatMap(([key, inner]) => [`${at}.${key}`, ...members(inner, `${at}.${key}`)])
}

const phases: Record<string, (state: Application) => boolean> = {
  'refresh asked': ({ metadata, operation }) => metadata.annotations?.[refreshAnnotation] !== undefined && !operation,
  'operation requested': ({ operation, status }) => operation !== undefined && !status.operationState,
  'operation running': ({ operation, status }) =>
    operation !== undefined &&
    status.operationState?.phase === 'Running' &&
    !status.operationState.syncResult &&
    status.sync.status === 'OutOfSync',
  'operation over': ({ metadata, operation, status }) =>
    !operation &&
    status.sync.status === 'OutOfSync' &&
    status.operationState !== undefined &&
    !metadata.annotations?.[refreshAnnotation],
  'synced and progressing': ({ operation, status }) =>
    !operation && status.health.status === 'Progressing' && (status.summary.images?.length ?? 0) > 1,
  'healthy with the old image': ({ status }) =>
    status.health.status === 'Healthy' && status.sync.status === 'Synced' && status.summary.images?.length === 2,
}

function served(world: VirtualWorld, state: Application): Application {
  const workloads = world.controller.managedAt(state.metadata)?.cluster.list() ?? []
  return JSON.parse(
    JSON.stringify({
      ...state,
      status: { ...state.status, resources: withResourceHealth(state.status.resources, workloads) },
    }),
  )
}

async function simulated(workloads: readonly Record<string, unknown>[], tag = '1.0.1', more = {}) {
  const world = createVirtualWorld({ staleLiveCache: 0, seed: 3, times: { progressDeadline: 20_000 } })
  await world.createApplication('shop', { workloads, ...more })
  world.deploy('shop', tag)
  world.refresh('shop')
  await world.clock.advance(40_000)
  return world
}

const image = `registry.example/shop:\${image.tag}`
const chart = [{ kind: 'Service' }, { kind: 'Deployment', replicas: 2, image }]

describe('objects have the members of the recorded ones, in their order', () => {
  test.for(Object.keys(phases))('a healthy rollout: %s', async (phase) => {
    const world = await simulated(chart)
    const fits = phases[phase] ?? (() => false)
    const theirs = recordedStates('01-healthy-helm').find(fits)
    const ours = world.statesOf('shop').find(fits)
    expect(theirs).toBeDefined()
    expect(members(ours && served(world, ours)).filter(isComparable)).toEqual(members(theirs).filter(isComparable))
  })

  test('a sync that fails and is retried, and its end', async () => {
    const world = createVirtualWorld({ seed: 3 })
    const policy = {
      automated: { prune: true, selfHeal: true },
      syncOptions: ['CreateNamespace=true'],
      retry: { limit: 1, backoff: { duration: '2s' } },
    }
    await world.createApplication('shop', {
      workloads: [{ kind: 'Deployment', replicas: 1, image }],
      syncPolicy: policy,
    })
    world.git.push('gitops', {
      'shop/workloads.yaml': JSON.stringify({
        workloads: [{ image: 'registry.example/shop:1.0.1', selector: 'other' }],
      }),
    })
    world.refresh('shop')
    await world.clock.advance(20_000)
    const theirs = recordedStates('05-sync-error')
    for (const fits of [
      ({ status }: Application) =>
        status.operationState?.finishedAt !== undefined && status.operationState.phase === 'Running',
      ({ status }: Application) => status.conditions !== undefined,
    ]) {
      const ours = world.statesOf('shop').find(fits)
      const wanted = theirs.find(fits)
      expect(members(ours?.status.operationState)).toEqual(members(wanted?.status.operationState))
      expect(members(ours?.status.conditions)).toEqual(members(wanted?.status.conditions))
      expect(withoutNumbers(ours?.status.operationState?.message)).toBe(
        withoutNumbers(wanted?.status.operationState?.message?.replaceAll('shop05', 'shop')),
      )
    }
  })

  test('several sources', async () => {
    const world = createVirtualWorld({ seed: 3, staleLiveCache: 0 })
    world.git.push('values', { 'prod/values.yaml': 'image: {tag: "1.0.0"}' })
    await world.createApplication('shop', {
      workloads: chart,
      sources: [
        { repoURL: 'gitops', path: 'shop', targetRevision: 'main', helm: { valueFiles: ['$values/prod/values.yaml'] } },
        { repoURL: 'values', targetRevision: 'main', ref: 'values' },
      ],
    })
    world.git.push('values', { 'prod/values.yaml': 'image: {tag: "1.0.1"}' })
    world.refresh('shop')
    await world.clock.advance(20_000)
    for (const phase of ['operation requested', 'operation over', 'synced and progressing']) {
      const fits = phases[phase] ?? (() => false)
      const ours = world.statesOf('shop').find(fits)
      const theirs = recordedStates('07-multi-source').find(fits)
      expect(members(ours && served(world, ours)).filter(isComparable)).toEqual(members(theirs).filter(isComparable))
    }
  })

  test('a comparison error', async () => {
    const world = createVirtualWorld({ seed: 3 })
    await world.createApplication('shop', { workloads: chart })
    world.git.push('gitops', { 'shop/.argocd-source-shop.yaml': 'kustomize: {images: [a]}\nhelm: {parameters: []}' })
    world.refresh('shop')
    await world.clock.advance(5_000)
    const fits = ({ status, operation }: Application) => status.conditions !== undefined && operation === undefined
    const theirs = recordedStates('14-comparison-error').findLast(fits)
    const ours = world.application('shop')
    expect(ours.status.conditions?.[0]?.message).toBe(theirs?.status.conditions?.[0]?.message)
    expect(members(served(world, ours).status).filter(isComparable)).toEqual(
      members(theirs?.status).filter(isComparable),
    )
  })
})

/** What the recording's installation put into its objects besides. */
function isComparable(path: string): boolean {
  const settledOnly = ['autoHealAttemptsCount', '.status.operationState.operation.sync.resources']
  const messages = path.endsWith('.health.message')
  return !messages && !settledOnly.some((part) => path.includes(part))
}

function withoutNumbers(message: string | undefined): string | undefined {
  return message?.replace(/\d+:\d\d[AP]M/, '<time>').replace(/shm\/\d+/g, 'shm/<n>')
}

const recordedTree = z.object({ body: z.object({ nodes: z.array(z.record(z.string(), z.unknown())) }) })

function treeIn(path: string) {
  return recordedTree.parse(JSON.parse(readFileSync(new URL(path, recordings), 'utf8'))).body.nodes
}

describe('the resource tree reads like the recorded one', () => {
  test.for([
    { path: '03-image-pull-backoff/resource-tree-backoff.json', tag: '1.0.1-bad', name: 'shop03', afterMs: 8_000 },
    { path: '04-crash-loop/resource-tree-crash.json', tag: '1.0.1-crash', name: 'shop04', afterMs: 8_000 },
    { path: '01-healthy-helm/resource-tree.json', tag: '1.0.1', name: 'shop01', afterMs: 20_000 },
  ])('$path', async ({ path, tag, name, afterMs }) => {
    const world = createVirtualWorld({ seed: 3 })
    await world.createApplication('shop', { workloads: chart })
    world.deploy('shop', tag)
    world.refresh('shop')
    await world.clock.advance(afterMs)
    const tree = renderResourceTree(world.controller.managedAt(world.keyOf('shop'))?.cluster.list() ?? [])
    const comparable = (nodes: readonly Record<string, unknown>[]) =>
      nodes
        .map((node) => ({
          kind: node.kind,
          members: members(node),
          health: node.health,
          info: node.info,
          images: node.images,
        }))
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    const theirs = JSON.parse(JSON.stringify(treeIn(path)).replaceAll(name, 'shop'))
    // The kubelet that was played for these recordings left out the names.
    const ours = JSON.stringify(tree.nodes).replace(/(restarting failed container)=[^"]+/g, '$1')
    expect(comparable(JSON.parse(ours))).toEqual(comparable(theirs))
  })
})
