import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Deliveries } from '../../contract/notify/delivery.ts'
import { ServiceStatus } from '../../contract/service-status.ts'
import type { TaskSubmission } from '../../contract/task.ts'
import { openConfigFile } from '../support/config-file.ts'
import { createGitHubDouble } from '../support/github-double.ts'
import { startGitLabDouble } from '../support/gitlab-double.ts'
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

const audience = 'https://watcher.example'
const opened = new AsyncDisposableStack()
const gitHub = createGitHubDouble()
let gitLab: Awaited<ReturnType<typeof startGitLabDouble>>
let issuer: TokenIssuer
let config: ReturnType<typeof openConfigFile>
let world: World
let made = 0
const aSha = () => String(++made).padStart(40, '0')

beforeAll(async () => {
  issuer = opened.use(await startTokenIssuer(gitHub.serve)) // as GitHub Enterprise, which is both
  gitLab = opened.use(await startGitLabDouble('team/sub/shop'))
  gitHub.install('acme/shop', 'deployments')
  const rule = { name: 'ci', issuer: issuer.url, audience, match: { repository_id: '1' }, apps: 'all' }
  const events = ['started', 'succeeded', 'failed', 'cancelled']
  config = opened.use(
    openConfigFile({
      ci_identities: [rule],
      notifications: {
        targets: {
          commits: { kind: 'github', repositories: ['acme/shop', 'acme/absent'] },
          lab: { kind: 'gitlab', repositories: ['team/sub/shop'], commit_status: true },
        },
        routes: [{ events, targets: ['commits', 'lab'], anonymous: true }],
      },
    }),
  )
  world = opened.use(
    await startWorld({
      applications: ['shop', 'web'],
      settings: {
        CONFIG_FILE: config.file,
        PUBLIC_URL: audience,
        BAD_POD_GRACE: '1',
        GITHUB_API_URL: `${issuer.url}/api/v3`,
        ...gitHub.settings,
        ...gitLab.settings,
      },
    }),
  )
})
afterAll(() => opened.disposeAsync())
beforeEach(() => {
  gitHub.forget()
  gitLab.forget()
})
afterEach(() => {
  expect([...gitHub.refusals(), ...gitLab.refusals()]).toEqual([])
})

const sourceOf = (repository: string, sha = aSha()) => ({ repository, sha })
/** Submitted with a token that is not of a CI, unless `headers` say otherwise. */
async function deploy(
  source: TaskSubmission['source'],
  { app = 'shop', headers = withToken as Record<string, string> } = {},
): Promise<string> {
  const images = [{ image: `registry.example/${app}`, tag: `v${++made}` }]
  const { body } = await world.service.submitTask(
    { app, author: 'ada', project: app, environment: 'production', images, source },
    headers,
  )
  return (body as { id: string }).id
}
async function jobOf(repository: string, sha: string): Promise<Record<string, string>> {
  const now = Math.floor(Date.now() / 1_000)
  const times = { iat: now, exp: now + 300 }
  const claims = { iss: issuer.url, aud: audience, sub: 'job', repository, repository_id: '1', sha, ...times }
  return { authorization: `Bearer ${await issuer.sign(claims)}` }
}
const deliveriesOf = async (id: string, target = 'commits') => {
  const { body } = await world.service.request('/api/v1/deliveries', { headers: withToken })
  return Deliveries.parse(body).deliveries.filter((one) => one.task_id === id && one.target === target)
}
const statesOf = (id: string) => gitHub.ofTask(id).map(({ statuses }) => statuses.map(({ state }) => state))
const callsOf = () => gitHub.calls().map(({ operation }) => operation)
const settled = (id: string, target?: string) =>
  expect
    .poll(async () => (await deliveriesOf(id, target)).map(({ state }) => state).join())
    .toMatch(/^(sent|dead)(,(sent|dead))*$/)
/** As if the time had passed. */
const passTime = () =>
  world.rows("UPDATE watcher.deliveries SET next_attempt_at = now(), claimed_until = NULL WHERE state = 'due'")

describe('GitHub', () => {
  test('has one deployment on the commit of the job, with a status for each state, and links', async () => {
    const externalURLs = ['https://shop.example/']
    world.simulator.control.editApplication('shop', ({ status, ...application }) => ({
      ...application,
      status: { ...status, summary: { ...status.summary, externalURLs } },
    }))
    const source = sourceOf('acme/shop')
    const id = await deploy(source, { headers: await jobOf('acme/shop', source.sha) })
    await expect.poll(() => statesOf(id)).toEqual([['in_progress', 'success']])
    expect(callsOf()).toEqual([
      ...['findInstallation', 'createToken', 'listDeployments', 'createDeployment'],
      ...['createDeploymentStatus', 'createDeploymentStatus'],
    ])
    const [deployment] = gitHub.ofTask(id)
    expect(deployment).toMatchObject({
      ref: source.sha,
      environment: 'production',
      auto_merge: false,
      required_contexts: [],
      statuses: [
        { log_url: `${audience}/task/${id}` },
        { log_url: `${audience}/task/${id}`, environment_url: 'https://shop.example/', description: /deployed/ },
      ].map(({ description, ...one }) => (description ? { ...one, description: expect.any(String) } : one)),
    })
    expect(gitHub.calls().find(({ operation }) => operation === 'createToken')?.body).toEqual({
      repositories: ['shop'],
      permissions: { deployments: 'write' },
    })
  })

  test('has failure and inactive for what failed and what was superseded', async () => {
    world.hold('web', 'crashes')
    const failed = await deploy(sourceOf('acme/shop'), { app: 'web' })
    await expect.poll(() => statesOf(failed)).toEqual([['in_progress', 'failure']])
    world.hold('web', 'never-ready')
    const superseded = await deploy(sourceOf('acme/shop'), { app: 'web' })
    await expect.poll(() => statesOf(superseded)).toEqual([['in_progress']])
    await world.service.request(`/api/v1/tasks/${superseded}`, { method: 'DELETE', headers: withToken })
    await expect.poll(() => statesOf(superseded)).toEqual([['in_progress', 'inactive']])
    const gone = await deploy(sourceOf('acme/shop'), { app: 'gone' })
    await expect.poll(() => statesOf(gone)).toEqual([['failure']])
  })

  test.for<[string, () => Promise<string>, string]>([
    ['without a credential', () => deploy(sourceOf('acme/shop'), { app: 'gone', headers: {} }), 'without a credential'],
    [
      'of a job whose body names another repository',
      async () => deploy(sourceOf('acme/shop'), { app: 'gone', headers: await jobOf('acme/web', aSha()) }),
      'not the commit of the token',
    ],
    [
      'for a repository that is not listed',
      () => deploy(sourceOf('acme/other'), { app: 'gone' }),
      'does not list source.repository',
    ],
  ])('gets no request for a task %s', async ([, submit, reason]) => {
    const id = await submit()
    await world.service.waitForEnd(id)
    await settled(id)
    expect(await deliveriesOf(id)).toContainEqual(
      expect.objectContaining({ state: 'sent', last_error: expect.stringContaining(reason) }),
    )
    expect(gitHub.calls()).toEqual([])
    expect(gitLab.calls()).toEqual([])
  })

  const inTwoSeconds = () => String(Math.ceil(Date.now() / 1_000) + 2)
  const exhausted = () => ({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inTwoSeconds() })
  test.for<[string, Parameters<typeof gitHub.fail>[0], () => Parameters<typeof gitHub.fail>[1]]>([
    ['a token that has ended', 'createDeployment', () => ({ status: 401 })],
    ['403 with Retry-After', 'createDeployment', () => ({ status: 403, headers: { 'retry-after': '1' } })],
    ['403 without requests left', 'createDeploymentStatus', () => ({ status: 403, headers: exhausted() })],
    ['429', 'listDeployments', () => ({ status: 429, headers: { 'retry-after': '1' } })],
    ['an answer to the creation that is lost', 'createDeployment', () => ({ status: 0, isLost: true })],
    ['a status whose answer is lost', 'createDeploymentStatus', () => ({ status: 0, isLost: true })],
  ])('loses nothing to %s', async ([, operation, fault]) => {
    gitHub.fail(operation, fault())
    const id = await deploy(sourceOf('acme/shop'), { app: 'gone' })
    await settled(id)
    expect(gitHub.ofTask(id)).toHaveLength(1)
    expect(statesOf(id)[0]?.at(-1)).toBe('failure')
  })

  test('gets one new token where all have ended in the middle', async () => {
    world.hold('web', 'never-ready')
    const id = await deploy(sourceOf('acme/shop'), { app: 'web' })
    await expect.poll(() => statesOf(id)).toEqual([['in_progress']])
    gitHub.endTokens()
    gitHub.forget()
    await world.service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken })
    await expect.poll(() => statesOf(id)).toEqual([['in_progress', 'inactive']])
    expect(callsOf()).toEqual([
      ...['createDeploymentStatus', 'findInstallation', 'createToken', 'createDeploymentStatus'],
    ])
  })

  test.for([409, 422])('does not get again what it answered with %i', async (status) => {
    gitHub.fail('createDeployment', { status, body: { message: 'Conflict merging main' } })
    const id = await deploy(sourceOf('acme/shop'), { app: 'gone' })
    await settled(id)
    expect(await deliveriesOf(id)).toMatchObject([
      { state: 'dead', attempts: 1, last_error: `GitHub answered ${status}: Conflict merging main` },
    ])
  })

  test('without the App: asked hourly, named in the status, once in the log, and nothing is lost', async () => {
    const issues = async () => {
      const { body } = await world.service.request('/api/v1/status', { headers: withToken })
      return ServiceStatus.parse(body).notifications?.issues
    }
    const text = 'GitHub App 123 is not installed on acme/absent, or there is no such repository'
    const ids = await Promise.all([1, 2].map((at) => deploy(sourceOf('acme/absent'), { app: `gone-${at}` })))
    await expect.poll(issues).toEqual([`commits: ${text}`])
    for (const id of ids) {
      await expect.poll(() => deliveriesOf(id)).toMatchObject([{ state: 'due', attempts: 1, last_error: text }])
      const [delivery] = await deliveriesOf(id)
      expect((delivery?.next_attempt ?? 0) - Date.now() / 1_000).toBeGreaterThan(3_500)
    }
    gitHub.install('acme/absent', 'contents')
    await passTime()
    await expect.poll(issues).toEqual([expect.stringMatching(/lacks the permission deployments: write/)])
    expect(world.service.logs().split(text)).toHaveLength(2)
    gitHub.install('acme/absent', 'contents', 'deployments')
    await passTime()
    await expect.poll(() => ids.map(statesOf)).toEqual([[['failure']], [['failure']]])
    await expect.poll(issues).toEqual([])
  })

  test('does not keep a token in a log', () => {
    expect(gitHub.tokens().length).toBeGreaterThan(1)
    for (const token of gitHub.tokens()) expect(world.service.logs()).not.toContain(token)
    expect(world.service.logs()).not.toContain('PRIVATE KEY')
  })
})

describe('GitLab', () => {
  const states = (sha: string) => gitLab.deploymentsOf(sha).map((one) => one.states)

  test('has one deployment for a task, and a status of the commit where that is asked for', async () => {
    const source = { ...sourceOf('team/sub/shop'), ref: 'refs/heads/main' }
    const id = await deploy(source)
    await expect.poll(() => states(source.sha)).toEqual([['running', 'success']])
    await settled(id, 'lab')
    expect(gitLab.calls()).toEqual([
      ...['POST /deployments', 'POST /statuses/…', 'PUT /deployments/…', 'POST /statuses/…'],
    ])
    expect(gitLab.deploymentsOf(source.sha)).toMatchObject([{ ref: 'main', tag: false, environment: 'production' }])
    expect(gitLab.commitStatuses()).toMatchObject(
      ['running', 'success'].map((state) => ({
        state,
        ref: 'main',
        name: 'shop in production',
        target_url: `${audience}/task/${id}`,
      })),
    )
  })

  test('takes the default branch where nothing says what was built', async () => {
    const source = sourceOf('team/sub/shop')
    await settled(await deploy(source, { app: 'gone' }), 'lab')
    expect(gitLab.deploymentsOf(source.sha)).toMatchObject([{ ref: 'trunk', states: ['failed'] }])
  })

  test('has one deployment although the answer to its creation, and to its end, were lost', async () => {
    world.hold('web', 'never-ready')
    const source = { ...sourceOf('team/sub/shop'), tag: 'v1' }
    const commitStates = () => gitLab.commitStatuses().flatMap(({ ref, state }) => (ref === 'v1' ? [state] : []))
    gitLab.fail({ status: 0, isLost: true })
    const id = await deploy(source, { app: 'web' })
    await expect.poll(commitStates).toEqual(['running'])
    gitLab.fail({ status: 0, isLost: true })
    await world.service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken })
    await expect.poll(commitStates).toEqual(['running', 'canceled'])
    expect(gitLab.deploymentsOf(source.sha)).toMatchObject([{ states: ['running', 'canceled'], ref: 'v1', tag: true }])
  })

  test('waits as it is told', async () => {
    const source = { ...sourceOf('team/sub/shop'), ref: 'main' }
    gitLab.fail({ status: 429, headers: { 'retry-after': '1' } })
    await settled(await deploy(source, { app: 'gone' }), 'lab')
    expect(states(source.sha)).toEqual([['failed']])
  })
})

test('kills of a replica at random moments: one deployment for a task, and its last status is right', async () => {
  gitHub.delay(100)
  gitLab.delay(100)
  const tasks: { id: string; sha: string }[] = []
  for (let kill = 0; kill < 3; kill += 1) {
    for (const repository of ['acme/shop', 'team/sub/shop']) {
      const source = { ...sourceOf(repository), ref: 'main' }
      tasks.push({ id: await deploy(source, { app: `gone-${made}` }), sha: source.sha })
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 600))
    await world.service.kill('SIGKILL')
    await passTime()
    await world.service.restart()
  }
  for (const { id, sha } of tasks) {
    await expect.poll(() => statesOf(id)[0]?.at(-1) ?? gitLab.deploymentsOf(sha)[0]?.states.at(-1)).toMatch(/^fail/)
    await settled(id)
    await settled(id, 'lab')
    expect(gitHub.ofTask(id).length + gitLab.deploymentsOf(sha).length).toBe(1)
  }
})
