import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TaskRecord } from '../../contract/task.ts'
import { chartFiles, type ExampleWorkload, overrideFile } from '../../simulator/model/example-repository.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

const graces = {
  BAD_POD_GRACE: '2s',
  DEGRADED_GRACE: '1s',
  COMPARISON_ERROR_GRACE: '1s',
  SYNC_FAILED_GRACE: '1s',
  APP_GONE_GRACE: '2s',
  APPS_IN_ANY_NAMESPACE: 'true',
}

let world: World
beforeAll(async () => {
  const times = { podReady: [300, 500], customResourceLag: 1_500 } as const
  world = await startWorld({ applications: [], settings: graces, times })
})
afterAll(() => world[Symbol.asyncDispose]())

type Wanted = {
  readonly workloads?: readonly ExampleWorkload[]
  readonly runs?: string
  readonly annotations?: Record<string, string>
  readonly more?: object
}

/** What a chart names: its tag is a value. */
const templated = (name: string) => `registry.example/${name}:\${image.tag}`
const image = (name: string, tag: string) => `registry.example/${name}:${tag}`
const keyOf = (name: string) => `argocd/${name}`

/** A managed application with a repository of its own for one scenario, settled at its first tag. */
async function anApplication(name: string, { workloads, runs = 'v1', annotations = {}, more = {} }: Wanted = {}) {
  const { git, control } = world.simulator
  await git.createRepository(name, chartFiles(`apps/${name}`, { tag: runs, ...(workloads ? { workloads } : {}) }))
  await control.createApplication({
    name,
    source: { repository: name, path: `apps/${name}`, targetRevision: 'main' },
    annotations: {
      'watcher/managed': 'true',
      'watcher/managed-images': `main=registry.example/${name}`,
      'watcher/main.helm.image-tag': 'image.tag',
      ...annotations,
    },
    ...more,
  })
}

async function deploy(app: string, tag = 'v2', fields: object = {}): Promise<string> {
  const name = app.split('/').at(-1) ?? app
  const task = aTask({ app, images: [{ image: `registry.example/${name}`, tag }], ...fields })
  return world.service.acceptTask(task, withToken)
}

/** Ends `deployed`, and what it claims is true. */
async function expectDeployed(id: string, app: string, tag = 'v2') {
  expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
  const truth = await world.simulator.control.truth(app)
  expect(truth).toMatchObject({ isSynced: true, isRolledOut: true, runningImages: [image(app, tag)] })
}

const committed = (id: string) => world.service.waitForTask(id, ({ commit }) => commit !== undefined)
const waitingFor = (id: string, text: string) =>
  world.service.waitForTask(id, ({ progress }) => progress?.includes(text) === true)
const callsOf = (app: string, ...kinds: readonly string[]) =>
  world.simulator.control.callLog().filter((call) => call.application === app && kinds.includes(call.kind))

const compareNow = (app: string) => world.simulator.controller.refreshNow({ name: app, namespace: 'argocd' }, 3)

/** The states of an application that the delivery controller has written. */
const statesOf = (app: string) =>
  world.simulator.control
    .eventLog()
    .flatMap(({ event }) => (event.application.metadata.name === app ? [event.application] : []))

describe.concurrent('every scenario at once, each on an application of its own', () => {
  describe('a rollout that works is deployed, and not before it does (spec 1.3)', () => {
    test('healthy at the old revision long after the push', async ({ expect }) => {
      await anApplication('old-green')
      world.simulator.controller.faults.hangRefresh.add(keyOf('old-green'))
      const id = await deploy('old-green')
      await committed(id)
      await expect.poll(() => callsOf('old-green', 'refresh')[0]?.status).toBe(504)
      expect(world.simulator.control.application('old-green')?.status).toMatchObject({
        sync: { status: 'Synced' },
        health: { status: 'Healthy' },
      })
      expect(await waitingFor(id, 'waiting for Argo CD to pick up the commit')).toMatchObject({ status: 'in progress' })
      world.simulator.controller.faults.hangRefresh.delete(keyOf('old-green'))
      await expectDeployed(id, 'old-green')
    })

    test('the operation has succeeded while a custom resource still shows its health from before', async ({
      expect,
    }) => {
      await anApplication('stale', { workloads: [{ kind: 'Widget', image: templated('stale'), replicas: 2 }] })
      await expectDeployed(await deploy('stale'), 'stale')
      const isStale = statesOf('stale').some(
        ({ status }) =>
          status.operationState?.phase === 'Succeeded' &&
          status.operationState.syncResult?.resources?.some(({ images }) => images?.includes(image('stale', 'v2'))) &&
          status.health.status === 'Healthy' &&
          status.summary.images?.includes(image('stale', 'v1')),
      )
      expect(isStale).toBe(true)
    })

    test('the operation ends in the second of the comparison: one refresh and at most four calls', async ({
      expect,
    }) => {
      await anApplication('one-second')
      await expectDeployed(await deploy('one-second'), 'one-second')
      const [first] = callsOf('one-second', 'refresh')
      // A commit that takes longer to be seen is asked for and read again, and that is counted apart.
      const soon = (kind: string) =>
        callsOf('one-second', kind).filter(({ atMs }) => atMs < Number(first?.atMs) + 10_000)
      expect(soon('refresh')).toHaveLength(1)
      expect(soon('get').length).toBeLessThanOrEqual(3)
    })

    test('a later commit of somebody else with the same tag', async ({ expect }) => {
      await anApplication('later-same')
      const id = await deploy('later-same', 'v2', { refresh: false })
      const { commit } = await committed(id)
      const other = await world.simulator.git.commit('later-same', { 'notes.md': 'by somebody else' })
      compareNow('later-same')
      await expectDeployed(id, 'later-same')
      const compared = statesOf('later-same').map(({ status }) => status.sync.revision)
      expect(compared).not.toContain(commit)
      expect(compared).toContain(other)
    })

    test('a commit of another author during the wait for health: what was met before keeps its first time', async ({
      expect,
    }) => {
      await anApplication('first-met')
      world.simulator.control.overridePods('first-met', { newPods: 'never-ready', except: [image('first-met', 'v1')] })
      const id = await deploy('first-met')
      const passed = ({ diagnosis }: TaskRecord) => diagnosis?.conditions.filter(({ state }) => state === 'met') ?? []
      const revisionOf = (task: TaskRecord) => passed(task).find(({ name }) => name === 'revision')
      const before = await world.service.waitForTask(id, ({ unmet_condition: unmet }) => unmet === 'healthy')
      await world.simulator.git.commit('first-met', { 'notes.md': 'by another author' })
      compareNow('first-met')
      const after = await world.service.waitForTask(
        id,
        (task) => (revisionOf(task)?.since ?? 0) > (revisionOf(before)?.since ?? 0),
      )
      const firstTimes = (task: TaskRecord) =>
        passed(task).flatMap(({ name, first_met: at }) => (at === undefined ? [] : [[name, at]]))
      expect(Object.fromEntries(firstTimes(before))).toMatchObject({
        revision: expect.any(Number),
        synced: expect.any(Number),
      })
      expect(firstTimes(after)).toEqual(firstTimes(before))
    })

    test('the new image is listed long before it is ready', async ({ expect }) => {
      await anApplication('early', { workloads: [{ kind: 'Deployment', image: templated('early'), replicas: 3 }] })
      const id = await deploy('early')
      await expect
        .poll(() => world.simulator.control.truth('early').then((truth) => truth?.presentImages))
        .toContain(image('early', 'v2'))
      expect((await world.service.getTask(id)).status).toBe('in progress')
      await expectDeployed(id, 'early')
    })

    test('the old image is listed until its Pods are gone', async ({ expect }) => {
      const workloads = [{ kind: 'Deployment', image: templated('slow-end'), terminationSeconds: 60 }]
      await anApplication('slow-end', { workloads })
      await expectDeployed(await deploy('slow-end'), 'slow-end')
      expect((await world.simulator.control.truth('slow-end'))?.presentImages).toContain(image('slow-end', 'v1'))
    })

    test('an application in another namespace, by its override file of namespace and name', async ({ expect }) => {
      await anApplication('elsewhere', { more: { namespace: 'team-a' } })
      expect(await world.service.waitForEnd(await deploy('team-a/elsewhere'))).toMatchObject({ status: 'deployed' })
      const file = 'apps/elsewhere/.argocd-source-team-a_elsewhere.yaml'
      expect(await world.simulator.git.readFile('elsewhere', file)).toBe(overrideFile('v2'))
      const truth = await world.simulator.control.truth({ name: 'elsewhere', namespace: 'team-a' })
      expect(truth?.runningImages).toEqual([image('elsewhere', 'v2')])
      expect(callsOf('elsewhere', 'get').every(({ path }) => path.includes('appNamespace=team-a'))).toBe(true)
    })

    test('several sources whose values come from another repository, where somebody else commits the tag', async ({
      expect,
    }) => {
      const { git, control } = world.simulator
      const workloads = [{ kind: 'Deployment', image: templated('by-values') }]
      await git.createRepository('charts', chartFiles('by-values', { tag: 'none', workloads }))
      await git.createRepository('values', { 'by-values.yaml': 'image:\n  tag: v1\n' })
      await control.createApplication({
        name: 'by-values',
        sources: [
          {
            repository: 'charts',
            path: 'by-values',
            targetRevision: 'main',
            helm: { valueFiles: ['$values/by-values.yaml'] },
          },
          { repository: 'values', targetRevision: 'main', ref: 'values' },
        ],
      })
      await git.commit('values', { 'by-values.yaml': 'image:\n  tag: v2\n' })
      const id = await deploy('by-values')
      await expectDeployed(id, 'by-values')
      expect((await world.service.getTask(id)).commit).toBeUndefined()
    })
  })

  describe('a rollout that cannot work is failed, with its culprit', () => {
    test('a later commit of somebody else with another tag: cancelled, superseded, the commit named', async ({
      expect,
    }) => {
      await anApplication('later-other')
      const id = await deploy('later-other', 'v2', { refresh: false })
      await committed(id)
      const other = await world.simulator.git.commit('later-other', {
        'apps/later-other/.argocd-source-later-other.yaml': overrideFile('v9'),
      })
      compareNow('later-other')
      const task = await world.service.waitForEnd(id)
      expect(task).toMatchObject({ status: 'cancelled', cause: 'superseded' })
      expect(task.status_reason).toContain(
        `superseded in Git: commit ${other} sets tag registry.example/later-other:v9`,
      )
      expect(task.diagnosis?.superseded_by).toEqual({ commit: other, tag: 'registry.example/later-other:v9' })
    })

    test('automated sync that gave up a commit of somebody else: says so, then fails at the deadline', async ({
      expect,
    }) => {
      await anApplication('given-up', { more: { syncPolicy: { automated: {}, retry: { limit: 0 } } } })
      world.simulator.controller.faults.failSync.set(keyOf('given-up'), 'no quota is left')
      expect(await world.service.waitForEnd(await deploy('given-up'))).toMatchObject({ cause: 'sync_error' })
      const images = [{ image: 'registry.example/given-up', tag: 'v2' }]
      const id = await world.service.acceptTask(aTask({ app: 'given-up', images, timeout: 30 }))
      await waitingFor(id, 'Argo CD stopped automated sync')
      const task = await world.service.waitForEnd(id)
      expect(task).toMatchObject({ status: 'failed', cause: 'auto_sync_stopped' })
      expect(task.status_reason).toContain('no quota is left')
    })

    test('deleted and not created again: app not found', async ({ expect }) => {
      await anApplication('deleted', { more: { hasFinalizer: false } })
      world.simulator.controller.faults.hangRefresh.add(keyOf('deleted'))
      const id = await deploy('deleted')
      await committed(id)
      await world.simulator.control.deleteApplication('deleted')
      expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'app not found', cause: 'app_gone' })
    })

    test.for([
      {
        name: 'an annotation that cannot be read',
        wanted: { annotations: { 'watcher/managed-images': 'no equals sign' } },
        cause: 'annotation_invalid',
      },
      {
        name: 'a source that follows no branch',
        wanted: { more: { source: { repoURL: 'https://charts.example', chart: 'web', targetRevision: '1.0.0' } } },
        cause: 'not_followed',
      },
      {
        name: 'a repository for which there is no login',
        wanted: { more: { source: { repoURL: 'https://git.example/ops.git', path: 'a', targetRevision: 'main' } } },
        cause: 'setting_missing',
      },
    ])('$name, before anything is committed', async ({ name, wanted, cause }, { expect }) => {
      const app = name.replaceAll(' ', '-')
      await anApplication(app, wanted)
      const task = await world.service.waitForEnd(await deploy(app))
      expect(task).toMatchObject({ status: 'failed', cause })
      expect(task.commit).toBeUndefined()
    })

    test('an override file that cannot be edited', async ({ expect }) => {
      await anApplication('listed')
      await world.simulator.git.commit('listed', { 'apps/listed/.argocd-source-listed.yaml': '- a\n- list\n' })
      const task = await world.service.waitForEnd(await deploy('listed'))
      expect(task).toMatchObject({ status: 'failed', cause: 'override_file_invalid' })
    })

    test('a sync that somebody terminates', async ({ expect }) => {
      const waits = { kind: 'Job', name: 'waits', hook: 'PreSync', image: 'registry.example/waits:v1' }
      await anApplication('stopped', { workloads: [waits, { kind: 'Deployment', image: templated('stopped') }] })
      world.simulator.control.overridePods('stopped', { newPods: 'never-ready' })
      const id = await deploy('stopped')
      await waitingFor(id, 'waiting for completion of hook')
      expect(world.simulator.controller.terminate({ name: 'stopped', namespace: 'argocd' })).toBe(true)
      const task = await world.service.waitForEnd(id)
      expect(task).toMatchObject({ status: 'failed', cause: 'terminated' })
    })

    test('a credential that came for an application that is not managed', async ({ expect }) => {
      await anApplication('foreign', { annotations: { 'watcher/managed': 'false' } })
      const task = await world.service.waitForEnd(await deploy('foreign', 'v2', { timeout: 20 }))
      expect(task).toMatchObject({ status: 'failed', cause: 'not_managed' })
      expect(task.status_reason).toMatch(/^The application is not managed by this service/)
    })
  })
})
