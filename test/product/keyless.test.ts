import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { exitCodes } from '../../contract/exit-codes.ts'
import { ServiceStatus } from '../../contract/service-status.ts'
import { TaskEvents } from '../../contract/task-event.ts'
import { openConfigFile } from '../support/config-file.ts'
import { runClient } from '../support/run-client.ts'
import { aTask } from '../support/service.ts'
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

const audience = 'https://watcher.example'
const opened = new AsyncDisposableStack()
let issuer: TokenIssuer
let config: ReturnType<typeof openConfigFile>
let world: World
let content: object

beforeAll(async () => {
  issuer = opened.use(await startTokenIssuer())
  const rule = (name: string, id: string, apps: 'all' | readonly string[]) => ({
    name,
    issuer: issuer.url,
    audience,
    match: { repository_id: id, ref: 'refs/heads/main' },
    apps,
  })
  content = {
    ci_identities: [rule('shop', '1', ['shop', 'gone-*']), rule('web', '1', ['web']), rule('other', '2', ['other'])],
    environments: { 'web*': 'production' },
  }
  config = opened.use(openConfigFile(content))
  world = opened.use(
    await startWorld({
      parts: ['argo cd', 'provider', 'browser'],
      applications: ['shop', 'web'],
      settings: { CONFIG_FILE: config.file, IDP_REQUIRE_READ_AUTH: 'true', SUBMISSIONS_PER_MINUTE: '20' },
    }),
  )
})
afterAll(() => opened.disposeAsync())
afterEach(() => config.write(content))

const nowSeconds = () => Math.floor(Date.now() / 1000)
const claims = (change: object = {}) => ({
  iss: issuer.url,
  aud: audience,
  sub: 'repo:team/web:ref:refs/heads/main',
  iat: nowSeconds(),
  exp: nowSeconds() + 300,
  repository: 'team/web',
  repository_id: '1',
  ref: 'refs/heads/main',
  sha: 'abc1234',
  run_id: '77',
  run_attempt: '2',
  ...change,
})
const bearer = async (change: object = {}) => ({ Authorization: `Bearer ${await issuer.sign(claims(change))}` })
const submit = (app: string, headers: Record<string, string>, fields: object = {}) =>
  world.service.submitTask(
    aTask({ app, images: [{ image: `registry.example/${app}`, tag: 'v1' }], ...fields }),
    headers,
  )
const idOf = ({ body }: { body: unknown }) => (body as { id: string }).id
const errorOf = async (app: string, change: object) => (await submit(app, await bearer(change))).body

describe('a job with an ID token', () => {
  test('commits, deploys, and is named in the audit, the timeline and the task', async () => {
    const headers = await bearer()
    const id = idOf(await submit('web', headers))
    const read = async () => (await world.service.request(`/api/v1/tasks/${id}`, { headers })).body
    await expect.poll(read).toMatchObject({
      status: 'deployed',
      author: 'ada',
      environment: 'production',
      commit: expect.any(String),
      source: {
        repository: 'team/web',
        sha: 'abc1234',
        ref: 'refs/heads/main',
        url: `${issuer.url}/team/web/commit/abc1234`,
      },
    })
    const runUrl = `${issuer.url}/team/web/actions/runs/77/attempts/2`
    expect(
      await world.rows('SELECT actor_kind, actor, actor_name, detail FROM watcher.audit WHERE subject = $1', [id]),
    ).toEqual([
      {
        actor_kind: 'ci',
        actor: `${issuer.url} repo:team/web:ref:refs/heads/main`,
        actor_name: 'web',
        detail: `web: registry.example/web:v1; ${runUrl}`,
      },
    ])
    const { events } = TaskEvents.parse((await world.service.request(`/api/v1/tasks/${id}/events`, { headers })).body)
    expect(events.find(({ kind }) => kind === 'accepted')?.data).toMatchObject({
      rule: 'web',
      issuer: issuer.url,
      subject: 'repo:team/web:ref:refs/heads/main',
      run_url: runUrl,
    })
    await using shown = await world.open(`/task/${id}`, { as: world.ada })
    const link = shown.page.getByRole('link', { name: 'team/web/actions/runs/77/attempts/2' })
    expect(await link.getAttribute('href')).toBe(runUrl)
    expect((await world.service.request('/api/v1/apps/summary', { headers: withToken })).body).toMatchObject({
      apps: expect.arrayContaining([
        expect.objectContaining({ app: 'web', latest: expect.objectContaining({ environment: 'production' }) }),
      ]),
    })
  })

  test.for<[string, string, object, string]>([
    [
      'another branch',
      'shop',
      { ref: 'refs/heads/dev' },
      'rule "shop": ref is refs/heads/dev, must be refs/heads/main',
    ],
    ['another repository', 'shop', { repository_id: '3' }, 'no rule for repository_id 3 (team/web)'],
    ['another application', 'other', {}, 'none of its 2 rules is for other'],
    ['another application, by one rule', 'shop', { repository_id: '2' }, 'rule "other" is not for shop'],
    ['another audience', 'shop', { aud: 'x' }, 'aud is x, must be https://watcher.example alone'],
    ['an unknown issuer', 'shop', { iss: 'https://evil.example' }, 'unknown issuer'],
    ['no exp', 'shop', { exp: undefined }, 'exp is missing'],
  ])('of %s is rejected', async ([, app, change, error]) =>
    expect(await errorOf(app, change)).toMatchObject({ error: expect.stringContaining(error) }),
  )

  test('reads what its rules are for, and changes nothing else', async () => {
    const headers = await bearer()
    const foreign = idOf(await submit('foreign', withToken))
    expect(await world.service.request('/api/v1/tasks', { headers })).toMatchObject({ status: 200 })
    expect(await world.service.request(`/api/v1/tasks/${foreign}`, { headers })).toMatchObject({ status: 404 })
    expect(await world.service.request('/api/v1/settings', { headers })).toMatchObject({ status: 401 })
    const cancelled = await world.service.request(`/api/v1/tasks/${foreign}`, { method: 'DELETE', headers })
    expect(cancelled.status).toBe(404)
  })

  test('that submits again with a fresh token and its Idempotency-Key gets the same task', async () => {
    const key = { 'Idempotency-Key': 'run-77' }
    const first = idOf(await submit('gone-1', { ...(await bearer({ jti: '1' })), ...key }))
    const second = idOf(await submit('gone-1', { ...(await bearer({ jti: '2', exp: nowSeconds() + 301 })), ...key }))
    expect(second).toBe(first)
    const other = { ...(await bearer({ sub: 'repo:team/web:environment:production' })), ...key }
    expect(idOf(await submit('gone-1', other))).not.toBe(first)
  })

  test('reads and cancels its task past exp, unless its rule is gone, and no other task', async () => {
    const headers = await bearer({ exp: nowSeconds() - 27 }) // 30 s of skew count
    const id = idOf(await submit('gone-2', headers, { wait_for_app: 120, timeout: 300 }))
    const foreign = idOf(await submit('foreign', withToken))
    const path = `/api/v1/tasks/${id}`
    await expect.poll(async () => (await world.service.request('/api/v1/tasks', { headers })).status).toBe(401)
    expect(await world.service.request(path, { headers })).toMatchObject({ status: 200, body: { app: 'gone-2' } })
    expect((await world.service.request(`/api/v1/tasks/${foreign}`, { headers })).status).toBe(401)
    config.write({})
    expect(await world.service.request(path, { headers })).toMatchObject({ status: 401 })
    config.write(content)
    const cancelled = await world.service.request(path, { method: 'DELETE', headers })
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled' } })
  })

  test('counts as a valid credential where submissions are limited', async () => {
    const headers = await bearer()
    for (let at = 0; at < 25; at++) expect((await submit(`gone-${at}`, headers)).status).toBe(202)
  })

  test('asks nothing of its issuer, whatever 300 others show', async () => {
    const before = issuer.calls().length
    const junk = await Promise.all(Array.from({ length: 300 }, (_, at) => issuer.sign(claims(), { kid: `junk-${at}` })))
    const statuses = await Promise.all(
      junk.map(async (token) => {
        const headers = { Authorization: `Bearer ${token}` }
        return (await world.service.request('/api/v1/tasks', { headers })).status
      }),
    )
    expect(statuses.filter((status) => status !== 401 && status !== 503)).toEqual([])
    expect(issuer.calls().length - before).toBeLessThanOrEqual(1)
    expect((await submit('gone-3', await bearer())).status).toBe(202)
  })
})

test('the client requests the ID token of its job, and deploys with it', async () => {
  const server = createServer(async (request, response) => {
    const wanted = new URL(request.url ?? '', 'http://x').searchParams.get('audience')
    const isAsked = request.headers.authorization === 'bearer of-the-runner'
    response.writeHead(isAsked ? 200 : 401).end(JSON.stringify({ value: await issuer.sign(claims({ aud: wanted })) }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await using _ = { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) }
  const variables = {
    WATCHER_URL: world.service.url,
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTOR: 'ada',
    GITHUB_REPOSITORY: 'team/web',
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token?api=1`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-runner',
  }
  const deploy = (...flags: readonly string[]) =>
    runClient(['deploy', '--app', 'shop', '--image', 'registry.example/shop:v2', ...flags], variables)
  expect(await deploy('--audience', audience)).toMatchObject({ code: exitCodes.deployed })
  const { code, stdout, stderr } = await deploy()
  expect(code).toBe(exitCodes.not_authorized)
  expect(stdout + stderr).toContain(`aud is ${world.service.url}, must be ${audience} alone`)
  expect(stdout + stderr).toContain('--no-token')
})

describe('the configuration file', () => {
  const status = async () =>
    ServiceStatus.parse((await world.service.request('/api/v1/status', { headers: withToken })).body)
  const gauge = async () =>
    /^watcher_config_last_reload_successful (\d)/m.exec(await (await fetch(`${world.service.url}/metrics`)).text())?.[1]

  test('that is wrong leaves its last good content, and is told to operators', async () => {
    expect(await status()).toMatchObject({ config: { issues: [] } })
    expect(await gauge()).toBe('1')
    config.write('ci_identites: []')
    expect(await status()).toMatchObject({
      config: { issues: ['ci_identites: is not known: did you mean ci_identities?'] },
    })
    expect(await gauge()).toBe('0')
    expect((await submit('gone-4', await bearer())).status).toBe(202)
    await expect.poll(() => world.service.logs()).toContain('the last one counts')
    config.write({ ci_identities: [] })
    expect(await errorOf('gone-4', {})).toMatchObject({ error: expect.stringContaining('unknown issuer') })
    expect(await gauge()).toBe('1')
  })

  test('that is wrong is shown to those who may see the settings', async () => {
    config.write('ci_identites: []')
    await using opened = await world.open('/settings', { as: world.ada })
    const health = opened.page.getByRole('region', { name: 'Version and health' })
    await health.getByText('ci_identites: is not known: did you mean ci_identities?').waitFor()
  })

  test('is not told to callers with one application', async () => {
    expect((await world.service.request('/api/v1/status', { headers: await bearer() })).body).not.toHaveProperty(
      'config',
    )
  })
})

test('the annotation of an application comes before the file, the submission before both', async () => {
  world.simulator.control.editApplication('web', ({ metadata, ...rest }) => ({
    ...rest,
    metadata: { ...metadata, annotations: { ...metadata.annotations, 'watcher/environment': 'staging' } },
  }))
  const read = (id: string) => world.service.request(`/api/v1/tasks/${id}`, { headers: withToken })
  const annotated = await world.deploy('web', 'v2')
  await expect.poll(async () => (await read(annotated)).body).toMatchObject({ environment: 'staging' })
  const named = await world.deploy('web', 'v3', { environment: 'canary' })
  await expect.poll(async () => (await read(named)).body).toMatchObject({ status: 'deployed', environment: 'canary' })
})
