import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chartFiles, overrideFile } from '../../simulator/model/example-repository.ts'
import { aTask } from '../support/service.ts'
import { createManaged, startWorld, type World, withToken } from '../support/world.ts'

/** One for each test, so that they need no world of their own. */
const applications = ['new', 'edited', 'again', 'unpullable', 'foreign', 'uncredited', 'superseded', 'restarted']

let world: World
beforeAll(async () => {
  world = await startWorld({ applications, settings: { BAD_POD_GRACE: '1s' } })
})
afterAll(() => world[Symbol.asyncDispose]())

const overrideFileOf = (app: string) => `apps/${app}/.argocd-source-${app}.yaml`
const overrideOf = (app: string) => world.simulator.git.readFile('gitops', overrideFileOf(app))
const commitsFor = async (app: string) =>
  (await world.commits()).filter(({ message }) => message.startsWith(`watcher(${app}): `))

describe('a task of a managed application, with a credential (spec 1.3)', () => {
  test('commits the new tag and is deployed once it runs', async () => {
    const id = await world.deploy('new', 'v2')
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'deployed', branch: 'main', repository: world.simulator.git.url('gitops') })
    const [commit, ...others] = await commitsFor('new')
    expect(others).toEqual([])
    expect(commit?.sha).toBe(task.commit)
    expect(commit?.message.trim()).toBe(`watcher(new): update image tag\n\nWatcher-Task: ${id}`)
    expect(await overrideOf('new')).toBe(overrideFile('v2'))
    expect((await world.simulator.control.truth('new'))?.runningImages).toEqual(['registry.example/new:v2'])
  })

  test('keeps comments, order and foreign keys of an override file that is there', async () => {
    const before = `# by hand\nkustomize: {}\nhelm:\n  parameters:\n    - name: other # kept\n      value: "1"\n${overrideFile('v1').split('\n').slice(2).join('\n')}`
    await world.simulator.git.commit('gitops', {
      [overrideFileOf('edited')]: before.replace('kustomize: {}\n', ''),
    })
    const id = await world.deploy('edited', 'v2')
    expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    expect(await overrideOf('edited')).toBe(before.replace('kustomize: {}\n', '').replace('"v1"', '"v2"'))
  })

  test('commits nothing when the tag is there already, and is deployed', async () => {
    await world.service.waitForEnd(await world.deploy('again', 'v2'))
    const again = await world.service.waitForEnd(await world.deploy('again', 'v2'))
    expect(again).toMatchObject({ status: 'deployed' })
    expect(await commitsFor('again')).toHaveLength(1)
  })

  test('fails with the message of a Pod that cannot pull its image', async () => {
    world.simulator.control.overridePods('unpullable', {
      newPods: 'image-pull-error',
      except: ['registry.example/unpullable:v1'],
    })
    const task = await world.service.waitForEnd(await world.deploy('unpullable', 'v2'))
    expect(task).toMatchObject({ status: 'failed', cause: 'image_pull' })
    expect(task.status_reason).toMatch(
      /^Image registry.example\/unpullable:v2 cannot be pulled: not found \[image_pull\]\nCulprit: Pod unpullable-\S+, /,
    )
    expect(task.status_reason).toMatch(/^Event of unpullable-\S+: BackOff: Back-off pulling image/m)
    expect(task.status_reason).toContain('Back-off pulling image "registry.example/unpullable:v2"')
  })

  test('of an application of several sources commits where the annotations say (spec 2.6, rule 2)', async () => {
    const { git, control } = world.simulator
    await git.commit('gitops', chartFiles('charts/web', { tag: 'v1' }))
    await control.createApplication({
      name: 'Web',
      sources: [
        { repository: 'gitops', path: 'charts/web', targetRevision: 'main' },
        { repository: 'gitops', path: '', targetRevision: 'main', ref: 'values' },
      ],
      annotations: {
        'watcher/managed': 'true',
        'watcher/managed-images': 'main=registry.example/web',
        'watcher/main.helm.image-tag': 'image.tag',
        'watcher/write-back-repo': git.url('gitops'),
        'watcher/write-back-branch': 'main',
        'watcher/write-back-path': 'charts/web',
        'watcher/write-back-filename': '.argocd-source-Web.yaml',
      },
    })
    const images = [{ image: 'registry.example/web', tag: 'v2' }]
    const id = await world.service.acceptTask(aTask({ app: 'Web', images }), withToken)
    expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    expect(await git.readFile('gitops', 'charts/web/.argocd-source-Web.yaml')).toBe(overrideFile('v2'))
  })
})

describe('a task without a credential (spec 1.4)', () => {
  test('is deployed when somebody else commits the tag', async () => {
    const id = await world.announce('foreign', 'v2')
    await world.service.waitForTask(id, ({ progress }) => progress !== undefined)
    await world.simulator.git.commit('gitops', { [overrideFileOf('foreign')]: overrideFile('v2') })
    await world.simulator.control.editApplication('foreign', (application) => application)
    const other = await world.announce('foreign', 'v2') // asks for a refresh at acceptance
    expect(await world.service.waitForEnd(other)).toMatchObject({ status: 'deployed' })
    expect(await commitsFor('foreign')).toEqual([])
  })

  test('of a managed application times out, and the first line names the credential (spec 3)', async () => {
    const images = [{ image: 'registry.example/uncredited', tag: 'v2' }]
    const id = await world.service.acceptTask(aTask({ app: 'uncredited', images, timeout: 10 }))
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'failed', cause: 'no_credential' })
    expect(task.status_reason?.split('\n', 1)[0]).toMatch(/credential/)
    expect(await commitsFor('uncredited')).toEqual([])
  })
})

test('with fire-and-forget a task is deployed after its commit, unwatched (spec 3)', async () => {
  await world.simulator.git.commit('gitops', chartFiles('apps/jobs', { tag: 'v1' }))
  await createManaged(world.simulator, 'jobs', { 'watcher/fire-and-forget': 'true' })
  world.simulator.control.overridePods('jobs', { newPods: 'image-pull-error' })
  const task = await world.service.waitForEnd(await world.deploy('jobs', 'v2'))
  expect(task).toMatchObject({ status: 'deployed' })
  expect((await commitsFor('jobs'))[0]?.sha).toBe(task.commit)
})

test('a newer task of the same image cancels the older one, and the branch ends at the newer tag', async () => {
  world.simulator.control.overridePods('superseded', { newPods: 'held', except: ['registry.example/superseded:v1'] })
  const older = await world.deploy('superseded', 'v2')
  await world.service.waitForTask(older, ({ commit }) => commit !== undefined)
  const newer = await world.deploy('superseded', 'v3')
  expect(await world.service.getTask(older)).toMatchObject({ status: 'cancelled', cause: 'superseded' })
  world.simulator.control.releasePods('superseded')
  expect(await world.service.waitForEnd(newer)).toMatchObject({ status: 'deployed' })
  expect(await overrideOf('superseded')).toBe(overrideFile('v3'))
})

describe('killed between commit and verdict, and started again', () => {
  test('the service ends the task with exactly one commit, within the original deadline', async () => {
    world.simulator.control.overridePods('restarted', { newPods: 'held', except: ['registry.example/restarted:v1'] })
    const id = await world.deploy('restarted', 'v2')
    const before = await world.service.waitForTask(id, ({ commit }) => commit !== undefined)
    await world.service.kill('SIGKILL')
    await world.service.restart()
    world.simulator.control.releasePods('restarted')
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'deployed', commit: before.commit, created: before.created })
    expect(await commitsFor('restarted')).toHaveLength(1)
  })
})
