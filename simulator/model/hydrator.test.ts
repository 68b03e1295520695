import { expect, test } from 'vitest'
import { chartFiles, overrideFile } from './example-repository.ts'
import { createVirtualWorld } from './virtual-world.ts'

const repoURL = 'https://git.example/dry.git'
const sourceHydrator = {
  drySource: { repoURL, path: 'apps/shop', targetRevision: 'main' },
  syncSource: { targetBranch: 'production', path: 'shop' },
}

async function aHydratedWorld() {
  const world = createVirtualWorld()
  world.git.push(repoURL, chartFiles('apps/shop', { tag: 'v1' }))
  await world.run(world.controller.createApplication({ name: 'shop', sources: [], sourceHydrator }))
  const key = world.keyOf('shop')
  const status = () => world.controller.store.get(key)?.status
  return { ...world, key, status, hydration: () => status()?.sourceHydrator }
}

test('a dry commit is rendered into the sync branch, whose commit is then synced', async () => {
  const { git, controller, clock, key, status, hydration } = await aHydratedWorld()
  expect(status()?.sync.revision).toBe(git.head(repoURL, 'production'))
  const drySHA = git.push(repoURL, { 'apps/shop/.argocd-source-shop.yaml': overrideFile('v2') })
  controller.annotateRefresh(key, 'normal')
  await clock.advanceUntil(() => hydration()?.currentOperation?.phase === 'Hydrating', 5_000)
  await clock.advanceUntil(() => status()?.summary.images?.join() === 'registry.example/shop:v2', 60_000)
  const hydratedSHA = git.head(repoURL, 'production')
  expect(hydration()).toMatchObject({
    currentOperation: { phase: 'Hydrated', drySHA, hydratedSHA },
    lastSuccessfulOperation: { drySHA, hydratedSHA },
    lastComparedDryRevision: drySHA,
  })
  expect(status()?.sync.revision).toBe(hydratedSHA)
})

test('a dry commit that changes nothing is compared and not committed', async () => {
  const { git, controller, clock, key, hydration } = await aHydratedWorld()
  const before = { head: git.head(repoURL, 'production'), operation: hydration()?.lastSuccessfulOperation }
  const drySHA = git.push(repoURL, { 'notes.md': 'by somebody else' })
  controller.annotateRefresh(key, 'normal')
  await clock.advanceUntil(() => hydration()?.lastComparedDryRevision === drySHA, 10_000)
  expect({ head: git.head(repoURL, 'production'), operation: hydration()?.lastSuccessfulOperation }).toEqual(before)
})

test('a hydration that fails says why, and is tried again', async () => {
  const { git, controller, clock, key, hydration } = await aHydratedWorld()
  controller.faults.failHydration.set('argocd/shop', 'the branch is protected')
  const drySHA = git.push(repoURL, { 'apps/shop/.argocd-source-shop.yaml': overrideFile('v2') })
  controller.annotateRefresh(key, 'normal')
  await clock.advanceUntil(() => hydration()?.currentOperation?.phase === 'Failed', 10_000)
  expect(hydration()?.currentOperation?.message).toBe('the branch is protected')
  controller.faults.failHydration.clear()
  controller.annotateRefresh(key, 'normal')
  await clock.advanceUntil(() => hydration()?.lastSuccessfulOperation?.drySHA === drySHA, 10_000)
})
