import { describe, expect } from 'vitest'
import type { TaskRecord } from '../../contract/task.ts'
import { chartFiles, type ExampleWorkload, overrideFile } from '../../simulator/model/example-repository.ts'
import { aTask } from '../support/service.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

let world: World
test.beforeAll(({ world: shared }) => {
  world = shared
})

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
      await anApplication('scenario-old-green')
      world.simulator.controller.faults.hangRefresh.add(keyOf('scenario-old-green'))
      const id = await deploy('scenario-old-green')
      await committed(id)
      await expect.poll(() => callsOf('scenario-old-green', 'refresh')[0]?.status).toBe(504)
      expect(world.simulator.control.application('scenario-old-green')?.status).toMatchObject({
        sync: { status: 'Synced' },
        health: { status: 'Healthy' },
      })
      expect(await waitingFor(id, 'waiting for Argo CD to pick up the commit')).toMatchObject({ status: 'in progress' })
      world.simulator.controller.faults.hangRefresh.delete(keyOf('scenario-old-green'))
      await expectDeployed(id, 'scenario-old-green')
    })

    test('the operation has succeeded while a custom resource still shows its health from before', async ({
      expect,
    }) => {
      await anApplication('scenario-stale', {
        workloads: [{ kind: 'Widget', image: templated('scenario-stale'), replicas: 2 }],
      })
      await expectDeployed(await deploy('scenario-stale'), 'scenario-stale')
      const isStale = statesOf('scenario-stale').some(
        ({ status }) =>
          status.operationState?.phase === 'Succeeded' &&
          status.operationState.syncResult?.resources?.some(({ images }) =>
            images?.includes(image('scenario-stale', 'v2')),
          ) &&
          status.health.status === 'Healthy' &&
          status.summary.images?.includes(image('scenario-stale', 'v1')),
      )
      expect(isStale).toBe(true)
    })

    test('the operation ends in the second of the comparison: one refresh and at most four calls', async ({
      expect,
    }) => {
      await anApplication('scenario-one-second')
      await expectDeployed(await deploy('scenario-one-second'), 'scenario-one-second')
      const [first] = callsOf('scenario-one-second', 'refresh')
      // A commit that takes longer to be seen is asked for and read again, and that is counted apart.
      const soon = (kind: string) =>
        callsOf('scenario-one-second', kind).filter(({ atMs }) => atMs < Number(first?.atMs) + 10_000)
      expect(soon('refresh')).toHaveLength(1)
      expect(soon('get').length).toBeLessThanOrEqual(3)
    })

    test('a later commit of somebody else with the same tag', async ({ expect }) => {
      await anApplication('scenario-later-same')
      const id = await deploy('scenario-later-same', 'v2', { refresh: false })
      const { commit } = await committed(id)
      const other = await world.simulator.git.commit('scenario-later-same', { 'notes.md': 'by somebody else' })
      compareNow('scenario-later-same')
      await expectDeployed(id, 'scenario-later-same')
      const compared = statesOf('scenario-later-same').map(({ status }) => status.sync.revision)
      expect(compared).not.toContain(commit)
      expect(compared).toContain(other)
    })

    test('a commit of another author during the wait for health: what was met before keeps its first time', async ({
      expect,
    }) => {
      await anApplication('scenario-first-met')
      world.simulator.control.overridePods('scenario-first-met', {
        newPods: 'never-ready',
        except: [image('scenario-first-met', 'v1')],
      })
      const id = await deploy('scenario-first-met')
      const passed = ({ diagnosis }: TaskRecord) => diagnosis?.conditions.filter(({ state }) => state === 'met') ?? []
      const revisionOf = (task: TaskRecord) => passed(task).find(({ name }) => name === 'revision')
      const before = await world.service.waitForTask(id, ({ unmet_condition: unmet }) => unmet === 'healthy')
      await world.simulator.git.commit('scenario-first-met', { 'notes.md': 'by another author' })
      compareNow('scenario-first-met')
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
      await anApplication('scenario-early', {
        workloads: [{ kind: 'Deployment', image: templated('scenario-early'), replicas: 3 }],
      })
      const id = await deploy('scenario-early')
      await expect
        .poll(() => world.simulator.control.truth('scenario-early').then((truth) => truth?.presentImages))
        .toContain(image('scenario-early', 'v2'))
      expect((await world.service.getTask(id)).status).toBe('in progress')
      await expectDeployed(id, 'scenario-early')
    })

    test('the old image is listed until its Pods are gone', async ({ expect }) => {
      const workloads = [{ kind: 'Deployment', image: templated('scenario-slow-end'), terminationSeconds: 60 }]
      await anApplication('scenario-slow-end', { workloads })
      await expectDeployed(await deploy('scenario-slow-end'), 'scenario-slow-end')
      expect((await world.simulator.control.truth('scenario-slow-end'))?.presentImages).toContain(
        image('scenario-slow-end', 'v1'),
      )
    })

    test('an application in another namespace, by its override file of namespace and name', async ({ expect }) => {
      await anApplication('scenario-elsewhere', { more: { namespace: 'team-a' } })
      expect(await world.service.waitForEnd(await deploy('team-a/scenario-elsewhere'))).toMatchObject({
        status: 'deployed',
      })
      const file = 'apps/scenario-elsewhere/.argocd-source-team-a_scenario-elsewhere.yaml'
      expect(await world.simulator.git.readFile('scenario-elsewhere', file)).toBe(overrideFile('v2'))
      const truth = await world.simulator.control.truth({ name: 'scenario-elsewhere', namespace: 'team-a' })
      expect(truth?.runningImages).toEqual([image('scenario-elsewhere', 'v2')])
      expect(callsOf('scenario-elsewhere', 'get').every(({ path }) => path.includes('appNamespace=team-a'))).toBe(true)
    })

    test('several sources whose values come from another repository, where somebody else commits the tag', async ({
      expect,
    }) => {
      const { git, control } = world.simulator
      const workloads = [{ kind: 'Deployment', image: templated('scenario-by-values') }]
      await git.createRepository('charts', chartFiles('scenario-by-values', { tag: 'none', workloads }))
      await git.createRepository('values', { 'scenario-by-values.yaml': 'image:\n  tag: v1\n' })
      await control.createApplication({
        name: 'scenario-by-values',
        sources: [
          {
            repository: 'charts',
            path: 'scenario-by-values',
            targetRevision: 'main',
            helm: { valueFiles: ['$values/scenario-by-values.yaml'] },
          },
          { repository: 'values', targetRevision: 'main', ref: 'values' },
        ],
      })
      await git.commit('values', { 'scenario-by-values.yaml': 'image:\n  tag: v2\n' })
      const id = await deploy('scenario-by-values')
      await expectDeployed(id, 'scenario-by-values')
      expect((await world.service.getTask(id)).commit).toBeUndefined()
    })
  })

  describe('a rollout that cannot work is failed, with its culprit', () => {
    test('a later commit of somebody else with another tag: cancelled, superseded, the commit named', async ({
      expect,
    }) => {
      await anApplication('scenario-later-other')
      const id = await deploy('scenario-later-other', 'v2', { refresh: false })
      await committed(id)
      const other = await world.simulator.git.commit('scenario-later-other', {
        'apps/scenario-later-other/.argocd-source-scenario-later-other.yaml': overrideFile('v9'),
      })
      compareNow('scenario-later-other')
      const task = await world.service.waitForEnd(id)
      expect(task).toMatchObject({ status: 'cancelled', cause: 'superseded' })
      expect(task.status_reason).toContain(
        `superseded in Git: commit ${other} sets tag registry.example/scenario-later-other:v9`,
      )
      expect(task.diagnosis?.superseded_by).toEqual({ commit: other, tag: 'registry.example/scenario-later-other:v9' })
    })

    test('automated sync that gave up a commit of somebody else: says so, then fails at the deadline', async ({
      expect,
    }) => {
      await anApplication('scenario-given-up', { more: { syncPolicy: { automated: {}, retry: { limit: 0 } } } })
      world.simulator.controller.faults.failSync.set(keyOf('scenario-given-up'), 'no quota is left')
      expect(await world.service.waitForEnd(await deploy('scenario-given-up'))).toMatchObject({ cause: 'sync_error' })
      const images = [{ image: 'registry.example/scenario-given-up', tag: 'v2' }]
      const id = await world.service.acceptTask(aTask({ app: 'scenario-given-up', images, timeout: 30 }))
      await waitingFor(id, 'Argo CD stopped automated sync')
      const task = await world.service.waitForEnd(id)
      expect(task).toMatchObject({ status: 'failed', cause: 'auto_sync_stopped' })
      expect(task.status_reason).toContain('no quota is left')
    })

    test('deleted and not created again: app not found', async ({ expect }) => {
      await anApplication('scenario-deleted', { more: { hasFinalizer: false } })
      world.simulator.controller.faults.hangRefresh.add(keyOf('scenario-deleted'))
      const id = await deploy('scenario-deleted')
      await committed(id)
      await world.simulator.control.deleteApplication('scenario-deleted')
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
      const app = `scenario-${name.replaceAll(' ', '-')}`
      await anApplication(app, wanted)
      const task = await world.service.waitForEnd(await deploy(app))
      expect(task).toMatchObject({ status: 'failed', cause })
      expect(task.commit).toBeUndefined()
    })

    test('an override file that cannot be edited', async ({ expect }) => {
      await anApplication('scenario-listed')
      await world.simulator.git.commit('scenario-listed', {
        'apps/scenario-listed/.argocd-source-scenario-listed.yaml': '- a\n- list\n',
      })
      const task = await world.service.waitForEnd(await deploy('scenario-listed'))
      expect(task).toMatchObject({ status: 'failed', cause: 'override_file_invalid' })
    })

    test('a sync that somebody terminates', async ({ expect }) => {
      const waits = { kind: 'Job', name: 'waits', hook: 'PreSync', image: 'registry.example/waits:v1' }
      await anApplication('scenario-stopped', {
        workloads: [waits, { kind: 'Deployment', image: templated('scenario-stopped') }],
      })
      world.simulator.control.overridePods('scenario-stopped', { newPods: 'never-ready' })
      const id = await deploy('scenario-stopped')
      await waitingFor(id, 'waiting for completion of hook')
      expect(world.simulator.controller.terminate({ name: 'scenario-stopped', namespace: 'argocd' })).toBe(true)
      const task = await world.service.waitForEnd(id)
      expect(task).toMatchObject({ status: 'failed', cause: 'terminated' })
    })

    test('a credential that came for an application that is not managed', async ({ expect }) => {
      await anApplication('scenario-foreign', { annotations: { 'watcher/managed': 'false' } })
      const task = await world.service.waitForEnd(await deploy('scenario-foreign', 'v2', { timeout: 20 }))
      expect(task).toMatchObject({ status: 'failed', cause: 'not_managed' })
      expect(task.status_reason).toMatch(/^The application is not managed by this service/)
    })
  })
})
