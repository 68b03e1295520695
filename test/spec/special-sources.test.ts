import { describe, expect } from 'vitest'
import {
  chartFiles,
  type ExampleWorkload,
  kustomizationFiles,
  overrideFile,
} from '../../simulator/model/example-repository.ts'
import { aTask } from '../support/service.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

let world: World
test.beforeAll(({ world: shared }) => {
  world = shared
})

const image = (name: string, tag: string) => `registry.example/${name}:${tag}`
const keyOf = (name: string) => `argocd/${name}`
const syncBranch = 'environments/production'

const managed = (name: string) => ({
  'watcher/managed': 'true',
  'watcher/managed-images': `main=registry.example/${name}`,
  'watcher/main.helm.image-tag': 'image.tag',
})

type Chart = { readonly runs?: string; readonly workloads?: readonly ExampleWorkload[] }

/** A managed application whose chart a hydrator renders from `main` into a branch of its own, which is what is synced. */
async function aHydrated(name: string, { runs = 'v1', workloads }: Chart = {}, repository = name): Promise<void> {
  const { git, control } = world.simulator
  await git.createRepository(repository)
  await git.commit(repository, chartFiles(`apps/${name}`, { tag: runs, ...(workloads ? { workloads } : {}) }))
  const drySource = { repoURL: git.url(repository), path: `apps/${name}`, targetRevision: 'main' }
  const syncSource = { targetBranch: syncBranch, path: `apps/${name}` }
  await control.createApplication({ name, sourceHydrator: { drySource, syncSource }, annotations: managed(name) })
}

async function deploy(app: string, tag = 'v2', fields: object = {}): Promise<string> {
  return world.service.acceptTask(
    aTask({ app, images: [{ image: `registry.example/${app}`, tag }], ...fields }),
    withToken,
  )
}

async function expectDeployed(id: string, app: string) {
  expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
  const truth = await world.simulator.control.truth(app)
  expect(truth).toMatchObject({ isSynced: true, isRolledOut: true, runningImages: [image(app, 'v2')] })
}

const waitingFor = (id: string, text: string) =>
  world.service.waitForTask(id, ({ progress }) => progress?.includes(text) === true)
const statusOf = (app: string) => world.simulator.control.application(app)?.status
const compareNow = (app: string) => world.simulator.controller.refreshNow({ name: app, namespace: 'argocd' }, 3)

describe.concurrent('an application whose manifests a hydrator commits (spec 1.3)', () => {
  test('is deployed when the hydrated commit of its own commit runs', async ({ expect }) => {
    await aHydrated('source-hydrated')
    const id = await deploy('source-hydrated')
    await expectDeployed(id, 'source-hydrated')
    const { commit } = await world.service.getTask(id)
    const { git } = world.simulator
    expect(commit).toBe(await git.head('source-hydrated'))
    expect(await git.readFile('source-hydrated', 'apps/source-hydrated/.argocd-source-source-hydrated.yaml')).toBe(
      overrideFile('v2'),
    )
    expect(statusOf('source-hydrated')).toMatchObject({
      sync: { revision: await git.head('source-hydrated', syncBranch) },
      sourceHydrator: { lastSuccessfulOperation: { drySHA: commit } },
    })
  })

  test('is not deployed while its commit is being hydrated, however green it is', async ({ expect }) => {
    const { hangHydration } = world.simulator.controller.faults
    await aHydrated('source-slowly')
    hangHydration.add(keyOf('source-slowly'))
    const id = await deploy('source-slowly')
    expect(await waitingFor(id, 'pick up the commit: expected hydration of')).toMatchObject({ status: 'in progress' })
    await expect.poll(() => statusOf('source-slowly')?.sourceHydrator.currentOperation?.phase).toBe('Hydrating')
    expect(statusOf('source-slowly')).toMatchObject({ sync: { status: 'Synced' }, health: { status: 'Healthy' } })
    hangHydration.delete(keyOf('source-slowly'))
    await expectDeployed(id, 'source-slowly')
  })

  test('fails at the deadline with the words of a hydration that failed', async ({ expect }) => {
    world.simulator.controller.faults.failHydration.set(keyOf('source-dry'), 'failed to push: the branch is protected')
    await aHydrated('source-dry')
    const id = await deploy('source-dry', 'v2', { timeout: 25 })
    await waitingFor(id, 'the branch is protected')
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'failed' })
    expect(task.status_reason).toContain('found a failed hydration: failed to push: the branch is protected')
  })

  test('whose commit changes nothing is deployed without a hydrated commit', async ({ expect }) => {
    await aHydrated('source-nothing-new', { runs: 'v2' })
    const before = await world.simulator.git.head('source-nothing-new', syncBranch)
    const id = await deploy('source-nothing-new')
    await expectDeployed(id, 'source-nothing-new')
    expect((await world.service.getTask(id)).commit).toMatch(/^[0-9a-f]{40}$/)
    expect(await world.simulator.git.head('source-nothing-new', syncBranch)).toBe(before)
  })

  test('and whose hydrated commit lies below those of others in the same branch is deployed', async () => {
    await aHydrated('source-first-of-two', {}, 'source-shared')
    await aHydrated('source-second-of-two', {}, 'source-shared')
    const ids = await Promise.all([deploy('source-first-of-two'), deploy('source-second-of-two')])
    await expectDeployed(ids[0] ?? '', 'source-first-of-two')
    await expectDeployed(ids[1] ?? '', 'source-second-of-two')
  })

  test('is superseded by a later dry commit of somebody else with another tag', async ({ expect }) => {
    const { git } = world.simulator
    await aHydrated('source-overtaken')
    const id = await deploy('source-overtaken', 'v2', { refresh: false })
    await world.service.waitForTask(id, ({ commit }) => commit !== undefined)
    const other = await git.commit('source-overtaken', {
      'apps/source-overtaken/.argocd-source-source-overtaken.yaml': overrideFile('v9'),
    })
    compareNow('source-overtaken')
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'cancelled', cause: 'superseded' })
    expect(task.status_reason).toContain(`superseded in Git: commit ${other} sets tag`)
  })

  test('fails when its hydrated commit cannot be applied', async ({ expect }) => {
    const { failSync } = world.simulator.controller.faults
    await aHydrated('source-denied')
    failSync.set(keyOf('source-denied'), 'admission webhook "rules" denied the request')
    await world.simulator.control.editApplication('source-denied', (current) => ({
      ...current,
      spec: { ...current.spec, syncPolicy: { automated: {}, retry: { limit: 0 } } },
    }))
    const task = await world.service.waitForEnd(await deploy('source-denied'))
    expect(task).toMatchObject({ status: 'failed', cause: 'sync_error' })
    expect(task.status_reason).toContain('admission webhook "rules" denied the request')
  })
})

describe('an application of a kustomization', () => {
  async function aKustomized(name: string, annotations: Record<string, string>, images: readonly string[] = []) {
    const { git, control } = world.simulator
    const folder = `apps/${name}`
    await git.createRepository(name, kustomizationFiles(folder, 'web', 'v1'))
    await git.commit(name, { [`${folder}/.argocd-source.yaml`]: 'kustomize: {images: ["shared:1"]}\n' })
    const source = { repository: name, path: folder, targetRevision: 'main' }
    await control.createApplication({
      name,
      source: images.length === 0 ? source : { ...source, kustomize: { images: [...images] } },
      annotations: {
        'watcher/managed': 'true',
        'watcher/managed-images': `main=registry.example/${name}`,
        ...annotations,
      },
    })
  }

  test('is deployed with its image in the override file, beside those that the list replaces', async () => {
    await aKustomized('source-kustomized', { 'watcher/main.kustomize.image-name': 'web' }, ['of-source:1', 'web:v0'])
    await expectDeployed(await deploy('source-kustomized'), 'source-kustomized')
    expect(
      await world.simulator.git.readFile(
        'source-kustomized',
        'apps/source-kustomized/.argocd-source-source-kustomized.yaml',
      ),
    ).toBe(
      'kustomize:\n  images:\n    - "of-source:1"\n    - "shared:1"\n    - "web=registry.example/source-kustomized:v2"\n',
    )
  })

  test('is superseded by a commit of somebody else that sets another tag in kustomize.images', async () => {
    await aKustomized('source-retagged', { 'watcher/main.kustomize.image-name': 'web' })
    const id = await deploy('source-retagged', 'v2', { refresh: false })
    await world.service.waitForTask(id, ({ commit }) => commit !== undefined)
    const other = await world.simulator.git.commit('source-retagged', {
      'apps/source-retagged/.argocd-source-source-retagged.yaml':
        'kustomize: {images: ["web=registry.example/source-retagged:v9"]}\n',
    })
    compareNow('source-retagged')
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'cancelled', cause: 'superseded' })
    expect(task.status_reason).toContain(`superseded in Git: commit ${other} sets tag`)
  })

  test('is refused before any commit when the annotation names a Helm parameter', async () => {
    await aKustomized('source-no-chart', { 'watcher/main.helm.image-tag': 'image.tag' })
    const before = await world.simulator.git.head('source-no-chart')
    await expect.poll(() => world.simulator.control.application('source-no-chart')?.status.sourceType).toBe('Kustomize')
    const task = await world.service.waitForEnd(await deploy('source-no-chart'))
    expect(task).toMatchObject({ status: 'failed', cause: 'annotation_invalid' })
    expect(await world.simulator.git.head('source-no-chart')).toBe(before)
  })

  test('is refused when the annotation names an image with a tag, naming the annotation', async () => {
    await aKustomized('source-tagged', { 'watcher/main.kustomize.image-name': 'web:v1' })
    const task = await world.service.waitForEnd(await deploy('source-tagged'))
    expect(task).toMatchObject({ status: 'failed', cause: 'annotation_invalid' })
    expect(task.status_reason).toContain('annotation main.kustomize.image-name is "web:v1"')
  })
})

test('sources that were looked up before and after the push: not deployed until both have it', async () => {
  const { git, control, controller } = world.simulator
  await git.createRepository('source-apart', chartFiles('apps/source-apart', { tag: 'v1' }))
  const source = { repository: 'source-apart', targetRevision: 'main' }
  await control.createApplication({
    name: 'source-apart',
    sources: [
      { ...source, path: 'apps/source-apart' },
      { ...source, ref: 'values' },
    ],
    annotations: {
      ...managed('source-apart'),
      'watcher/write-back-repo': git.url('source-apart'),
      'watcher/write-back-branch': 'main',
      'watcher/write-back-path': 'apps/source-apart',
    },
  })
  const before = await git.head('source-apart')
  const pushed = () => expect.poll(() => git.head('source-apart')).not.toBe(before)
  controller.faults.betweenLookUps.set(keyOf('source-apart'), pushed)
  compareNow('source-apart')
  const id = await deploy('source-apart', 'v2', { refresh: false })
  await expect.poll(() => statusOf('source-apart')?.sync.revisions?.[1]).not.toBe(before)
  const { commit } = await world.service.waitForTask(id, (task) => task.commit !== undefined)
  expect(statusOf('source-apart')).toMatchObject({ sync: { status: 'Synced', revisions: [before, commit] } })
  await waitingFor(id, `pick up the commit: expected ${commit?.slice(0, 7)} or later, found ${before?.slice(0, 7)}`)
  compareNow('source-apart')
  await expectDeployed(id, 'source-apart')
})

test('an operation that ended without a result blocks every later commit: the reason says so', async () => {
  const { git, control, controller } = world.simulator
  await git.createRepository('source-blocked', chartFiles('apps/source-blocked', { tag: 'v1' }))
  await control.createApplication({
    name: 'source-blocked',
    source: { repository: 'source-blocked', path: 'apps/source-blocked', targetRevision: 'main' },
    annotations: managed('source-blocked'),
  })
  controller.faults.endWithoutResult.set(keyOf('source-blocked'), 'the project was not found')
  await git.commit('source-blocked', { 'apps/source-blocked/.argocd-source-source-blocked.yaml': overrideFile('v0') })
  compareNow('source-blocked')
  await expect.poll(() => statusOf('source-blocked')?.operationState?.phase).toBe('Error')
  const task = await world.service.waitForEnd(await deploy('source-blocked', 'v2', { timeout: 30 }))
  expect(task.status).toBe('failed')
  expect(task.cause).toMatch(/^(sync_error|auto_sync_stopped)$/)
  expect(task.status_reason).toContain('the project was not found')
  expect((await control.truth('source-blocked'))?.runningImages).toEqual([image('source-blocked', 'v1')])
})
