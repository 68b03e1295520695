import { describe, expect, test } from 'vitest'
import { chartFiles, overrideFile } from '../simulator/model/example-repository.ts'
import { aTask } from './support/service.ts'
import { createManaged, startWorld, withToken } from './support/world.ts'

describe('a task of a managed application, with a credential (spec 1.3)', () => {
  test('commits the new tag and is deployed once it runs', async () => {
    await using world = await startWorld()
    const id = await world.deploy('shop', 'v2')
    const task = await world.service.waitForEnd(id)
    expect(task).toMatchObject({ status: 'deployed', branch: 'main', repository: world.simulator.git.url('gitops') })
    const [commit, ...others] = await world.commits()
    expect(others).toEqual([])
    expect(commit?.sha).toBe(task.commit)
    expect(commit?.message.trim()).toBe(`watcher(shop): update image tag\n\nWatcher-Task: ${id}`)
    expect(await world.simulator.git.readFile('gitops', 'apps/shop/.argocd-source-shop.yaml')).toBe(overrideFile('v2'))
    expect((await world.simulator.control.truth('shop'))?.runningImages).toEqual(['registry.example/shop:v2'])
  })

  test('keeps comments, order and foreign keys of an override file that is there', async () => {
    await using world = await startWorld()
    const before = `# by hand\nkustomize: {}\nhelm:\n  parameters:\n    - name: other # kept\n      value: "1"\n${overrideFile('v1').split('\n').slice(2).join('\n')}`
    await world.simulator.git.commit('gitops', {
      'apps/shop/.argocd-source-shop.yaml': before.replace('kustomize: {}\n', ''),
    })
    const id = await world.deploy('shop', 'v2')
    expect(await world.service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    const after = await world.simulator.git.readFile('gitops', 'apps/shop/.argocd-source-shop.yaml')
    expect(after).toBe(before.replace('kustomize: {}\n', '').replace('"v1"', '"v2"'))
  })

  test('commits nothing when the tag is there already, and is deployed', async () => {
    await using world = await startWorld()
    await world.service.waitForEnd(await world.deploy('shop', 'v2'))
    const again = await world.service.waitForEnd(await world.deploy('shop', 'v2'))
    expect(again).toMatchObject({ status: 'deployed' })
    expect(await world.commits()).toHaveLength(1)
  })

  test('fails with the message of a Pod that cannot pull its image', async () => {
    await using world = await startWorld({ settings: { BAD_POD_GRACE: '1s' } })
    world.simulator.control.setMood('shop', { newPods: 'image-pull-error', except: ['registry.example/shop:v1'] })
    const task = await world.service.waitForEnd(await world.deploy('shop', 'v2'))
    expect(task).toMatchObject({ status: 'failed', cause: 'image_pull' })
    expect(task.status_reason).toMatch(
      /^cannot start: Pod shop-\S+: .*registry.example\/shop:v2: not found \[image_pull\]$/m,
    )
    expect(task.status_reason).toMatch(/^Event of shop-\S+: BackOff: Back-off pulling image/m)
    expect(task.status_reason).toContain('Back-off pulling image "registry.example/shop:v2"')
  })

  test('of an application of several sources commits where the annotations say (spec 2.6, rule 2)', async () => {
    await using world = await startWorld({ applications: [] })
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
    const { body } = await world.service.submitTask(aTask({ app: 'Web', images }), withToken)
    expect(await world.service.waitForEnd((body as { id: string }).id)).toMatchObject({ status: 'deployed' })
    expect(await git.readFile('gitops', 'charts/web/.argocd-source-Web.yaml')).toBe(overrideFile('v2'))
  })
})

describe('a task without a credential (spec 1.4)', () => {
  test('is deployed when somebody else commits the tag', async () => {
    await using world = await startWorld()
    const id = await world.announce('shop', 'v2')
    await world.service.waitForTask(id, ({ progress }) => progress !== undefined)
    await world.simulator.git.commit('gitops', { 'apps/shop/.argocd-source-shop.yaml': overrideFile('v2') })
    await world.simulator.control.editApplication('shop', (application) => application)
    const other = await world.announce('shop', 'v2') // asks for a refresh at acceptance
    expect(await world.service.waitForEnd(other)).toMatchObject({ status: 'deployed' })
    expect(await world.commits()).toEqual([])
  })

  test('of a managed application times out, and the first line names the credential (spec 3)', async () => {
    await using world = await startWorld()
    const images = [{ image: 'registry.example/shop', tag: 'v2' }]
    const { body } = await world.service.submitTask(aTask({ images, timeout: 3 }))
    const task = await world.service.waitForEnd((body as { id: string }).id)
    expect(task).toMatchObject({ status: 'failed', cause: 'no_credential' })
    expect(task.status_reason?.split('\n', 1)[0]).toMatch(/credential/)
    expect(await world.commits()).toEqual([])
  })
})

test('a task of an application that does not exist ends "app not found"', async () => {
  await using world = await startWorld()
  const task = await world.service.waitForEnd(await world.deploy('nobody', 'v2'), 10_000)
  expect(task).toMatchObject({ status: 'app not found', cause: 'app_not_found' })
})

test('an image that no manifest of the application declares fails the task early', async () => {
  await using world = await startWorld()
  const images = [{ image: 'registry.example/other', tag: 'v2' }]
  const { body } = await world.service.submitTask(aTask({ images }), withToken)
  const task = await world.service.waitForEnd((body as { id: string }).id)
  expect(task).toMatchObject({ status: 'failed', cause: 'image_not_in_application' })
  expect(task.status_reason).toContain('registry.example/shop')
})

test('with fire-and-forget a task is deployed after its commit, unwatched (spec 3)', async () => {
  await using world = await startWorld({ applications: [] })
  await world.simulator.git.commit('gitops', chartFiles('apps/jobs', { tag: 'v1' }))
  await createManaged(world.simulator, 'jobs', { 'watcher/fire-and-forget': 'true' })
  world.simulator.control.setMood('jobs', { newPods: 'image-pull-error' })
  const task = await world.service.waitForEnd(await world.deploy('jobs', 'v2'))
  expect(task).toMatchObject({ status: 'deployed' })
  expect((await world.commits())[0]?.sha).toBe(task.commit)
})

test('a newer task of the same image cancels the older one, and the branch ends at the newer tag', async () => {
  await using world = await startWorld({ times: { podReady: [2_000, 2_500] } })
  const older = await world.deploy('shop', 'v2')
  await world.service.waitForTask(older, ({ commit }) => commit !== undefined)
  const newer = await world.deploy('shop', 'v3')
  expect(await world.service.waitForEnd(older, 2_000)).toMatchObject({ status: 'cancelled', cause: 'superseded' })
  expect(await world.service.waitForEnd(newer)).toMatchObject({ status: 'deployed' })
  expect(await world.simulator.git.readFile('gitops', 'apps/shop/.argocd-source-shop.yaml')).toBe(overrideFile('v3'))
})

test('fifty applications of one repository deployed at once are all deployed, with a commit each', async () => {
  const applications = Array.from({ length: 50 }, (_, index) => `app-${index}`)
  await using world = await startWorld({ applications })
  const ids = await Promise.all(applications.map((app) => world.deploy(app, 'v2')))
  const ended = await Promise.all(ids.map((id) => world.service.waitForEnd(id, 50_000)))
  expect(ended.filter(({ status }) => status !== 'deployed')).toEqual([])
  expect(new Set(ended.map(({ commit }) => commit)).size).toBe(50)
  expect(await world.commits()).toHaveLength(50)
})

describe('killed between commit and verdict, and started again', () => {
  test('the service ends the task with exactly one commit, within the original deadline', async () => {
    await using world = await startWorld({ times: { podReady: [3_000, 3_500] } })
    const id = await world.deploy('shop', 'v2')
    const before = await world.service.waitForTask(id, ({ commit }) => commit !== undefined)
    await world.service.kill('SIGKILL')
    await world.service.restart()
    const task = await world.service.waitForEnd(id, 40_000)
    expect(task).toMatchObject({ status: 'deployed', commit: before.commit, created: before.created })
    expect(await world.commits()).toHaveLength(1)
  })
})
