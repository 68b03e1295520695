import { describe, expect } from 'vitest'
import { chartFiles, overrideFile } from '../../simulator/model/example-repository.ts'
import { aTask } from '../support/service.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

/** One for each test. */
const applications = ['new', 'edited', 'again', 'unpullable', 'foreign', 'uncredited', 'superseded']

let world: World
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications(...applications.map((name) => `outcome-${name}`))
})

const overrideFileOf = (app: string) => `apps/${app}/.argocd-source-${app}.yaml`
const overrideOf = (app: string) => world.simulator.git.readFile('gitops', overrideFileOf(app))
const commitsFor = async (app: string) =>
  (await world.commits()).filter(({ message }) => message.startsWith(`watcher(${app}): `))

describe('a task of a managed application, with a credential (spec 1.3)', () => {
  test('commits the new tag and is deployed once it runs', async () => {
    const id = await world.deploy('outcome-new', 'v2')
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'deployed', branch: 'main', repository: world.simulator.git.url('gitops') })
    const [commit, ...others] = await commitsFor('outcome-new')
    expect(others).toEqual([])
    expect(commit?.sha).toBe(task.commit)
    expect(commit?.message.trim()).toBe(`watcher(outcome-new): update image tag\n\nWatcher-Task: ${id}`)
    expect(await overrideOf('outcome-new')).toBe(overrideFile('v2'))
    expect((await world.simulator.control.truth('outcome-new'))?.runningImages).toEqual([
      'registry.example/outcome-new:v2',
    ])
  })

  test('keeps comments, order and foreign keys of an override file that is there', async () => {
    const before = `# by hand\nkustomize: {}\nhelm:\n  parameters:\n    - name: other # kept\n      value: "1"\n${overrideFile('v1').split('\n').slice(2).join('\n')}`
    await world.simulator.git.commit('gitops', {
      [overrideFileOf('outcome-edited')]: before.replace('kustomize: {}\n', ''),
    })
    const id = await world.deploy('outcome-edited', 'v2')
    expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    expect(await overrideOf('outcome-edited')).toBe(before.replace('kustomize: {}\n', '').replace('"v1"', '"v2"'))
  })

  test('commits nothing when the tag is there already, and is deployed', async () => {
    await world.service.waitForEnd(await world.deploy('outcome-again', 'v2'))
    const again = await world.service.waitForEnd(await world.deploy('outcome-again', 'v2'))
    expect(again).toMatchObject({ status: 'deployed' })
    expect(await commitsFor('outcome-again')).toHaveLength(1)
  })

  test('fails with the message of a Pod that cannot pull its image', async () => {
    world.simulator.control.overridePods('outcome-unpullable', {
      newPods: 'image-pull-error',
      except: ['registry.example/outcome-unpullable:v0'],
    })
    const task = await world.service.waitForEnd(await world.deploy('outcome-unpullable', 'v2'))
    expect(task).toMatchObject({ status: 'failed', cause: 'image_pull' })
    expect(task.status_reason).toMatch(
      /^Image registry.example\/outcome-unpullable:v2 cannot be pulled: not found \[image_pull\]\nCulprit: Pod outcome-unpullable-\S+, /,
    )
    expect(task.status_reason).toMatch(/^Event of outcome-unpullable-\S+: BackOff: Back-off pulling image/m)
    expect(task.status_reason).toContain('Back-off pulling image "registry.example/outcome-unpullable:v2"')
  })

  test('of an application of several sources commits where the annotations say (spec 2.6, rule 2)', async () => {
    const { git, control } = world.simulator
    await git.commit('gitops', chartFiles('charts/web', { tag: 'v1' }))
    await control.createApplication({
      name: 'outcome-Web',
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
        'watcher/write-back-filename': '.argocd-source-outcome-Web.yaml',
      },
    })
    const images = [{ image: 'registry.example/web', tag: 'v2' }]
    const id = await world.service.acceptTask(aTask({ app: 'outcome-Web', images }), withToken)
    expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    expect(await git.readFile('gitops', 'charts/web/.argocd-source-outcome-Web.yaml')).toBe(overrideFile('v2'))
  })
})

describe('a task without a credential (spec 1.4)', () => {
  test('is deployed when somebody else commits the tag', async () => {
    const id = await world.announce('outcome-foreign', 'v2')
    await world.service.waitForTask(id, ({ progress }) => progress !== undefined)
    await world.simulator.git.commit('gitops', { [overrideFileOf('outcome-foreign')]: overrideFile('v2') })
    await world.simulator.control.editApplication('outcome-foreign', (application) => application)
    const other = await world.announce('outcome-foreign', 'v2') // asks for a refresh at acceptance
    expect(await world.service.waitForEnd(other)).toMatchObject({ status: 'deployed' })
    expect(await commitsFor('outcome-foreign')).toEqual([])
  })

  test('of a managed application times out, and the first line names the credential (spec 3)', async () => {
    const images = [{ image: 'registry.example/outcome-uncredited', tag: 'v2' }]
    const id = await world.service.acceptTask(aTask({ app: 'outcome-uncredited', images, timeout: 10 }))
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'failed', cause: 'no_credential' })
    expect(task.status_reason?.split('\n', 1)[0]).toMatch(/credential/)
    expect(await commitsFor('outcome-uncredited')).toEqual([])
  })
})

test('with fire-and-forget a task is deployed after its commit, unwatched (spec 3)', async () => {
  await world.simulator.git.commit('gitops', chartFiles('apps/outcome-jobs', { tag: 'v1' }))
  await world.createManaged('outcome-jobs', { 'watcher/fire-and-forget': 'true' })
  world.simulator.control.overridePods('outcome-jobs', { newPods: 'image-pull-error' })
  const task = await world.service.waitForEnd(await world.deploy('outcome-jobs', 'v2'))
  expect(task).toMatchObject({ status: 'deployed' })
  expect((await commitsFor('outcome-jobs'))[0]?.sha).toBe(task.commit)
})

test('a newer task of the same image cancels the older one, and the branch ends at the newer tag', async () => {
  world.simulator.control.overridePods('outcome-superseded', {
    newPods: 'held',
    except: ['registry.example/outcome-superseded:v0'],
  })
  const older = await world.deploy('outcome-superseded', 'v2')
  await world.service.waitForTask(older, ({ commit }) => commit !== undefined)
  const newer = await world.deploy('outcome-superseded', 'v3')
  expect(await world.service.getTask(older)).toMatchObject({ status: 'cancelled', cause: 'superseded' })
  world.simulator.control.releasePods('outcome-superseded')
  expect(await world.service.waitForEnd(newer)).toMatchObject({ status: 'deployed' })
  expect(await overrideOf('outcome-superseded')).toBe(overrideFile('v3'))
})
