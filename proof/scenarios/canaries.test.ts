import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { chartFiles } from '../../simulator/model/example-repository.ts'
import { fastTimes } from '../../simulator/model/simulator-times.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { formsOf, writtenForms } from '../../test/security/secret-forms.ts'
import { watchArguments } from '../../test/security/watch-arguments.ts'
import { createTestDatabase } from '../../test/support/database.ts'
import { startFaultProxy } from '../../test/support/fault-proxy.ts'
import { createHttpBrowser } from '../../test/support/http-browser.ts'
import { reserveIdentityProvider } from '../../test/support/identity-provider.ts'
import { mintJwt } from '../../test/support/mint-jwt.ts'
import { type Answer, aTask, startService } from '../../test/support/service.ts'
import { authorityPath, startHttpsGitHost } from '../../test/support/start-https-git-host.ts'
import { createManaged, settingsFor } from '../../test/support/world.ts'

/** Characters that every encoding writes otherwise; none that a header or a setting could not hold. */
const canary = (name: string) => `cnry-${name}/+=&"~${name}-end`

const secrets = {
  deployToken: canary('deploy-token'),
  wrongDeployToken: canary('wrong-deploy-token'),
  jwtSecret: canary('jwt-secret-of-more-than-32-bytes'),
  jwtSecretPrevious: canary('previous-jwt-secret-of-32-bytes'),
  sshKeyPass: canary('ssh-passphrase'),
  signingKeyPass: canary('signing-passphrase'),
  gitPassword: canary('git-password'),
  argoUserinfo: 'cnry-argo-userinfo-Zq7',
  aliasUserinfo: 'cnry-alias-userinfo-Zq7',
  proxyUserinfo: 'cnry-proxy-userinfo-Zq7',
}
const exp = Math.floor(Date.now() / 1000) + 600
const tokens = {
  jwt: mintJwt({ sub: 'ci', exp }, secrets.jwtSecret),
  previousJwt: mintJwt({ sub: 'ci', exp }, secrets.jwtSecretPrevious),
  expiredJwt: mintJwt({ sub: 'ci', exp: 1 }, secrets.jwtSecret),
  forgedJwt: mintJwt({ sub: 'ci', exp }, 'somebody else’s secret'),
}

const withUserinfo = (url: string, password: string) => url.replace('://', `://watcher:${password}@`)

async function encryptedKey(keyPath: string, key: string, passphrase: string): Promise<string> {
  await copyFile(keyPath, key)
  await promisify(execFile)('ssh-keygen', ['-q', '-p', '-P', '', '-N', passphrase, '-f', key])
  return key
}

// In a whole history with errors nothing of them is in logs, answers, metrics, commits and arguments.
test('no secret is in a log, an answer, a commit or a command line (T39; a deploy token in the query reaches no log and no metric (T6))', async () => {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-canaries-'))
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const simulator = started.use(await startSimulator({ folder, times: fastTimes }))
  await simulator.git.createRepository('gitops', chartFiles('apps/shop', { tag: 'v1' }))
  await createManaged(simulator, 'shop')
  const httpsHost = started.use(await startHttpsGitHost({ user: 'watcher', password: secrets.gitPassword }))
  await httpsHost.createRepository('ops/gitops.git', chartFiles('apps/web', { tag: 'v1' }))
  const https = { repoURL: httpsHost.url('ops/gitops.git'), path: 'apps/web', targetRevision: 'main' }
  const annotations = {
    'watcher/managed': 'true',
    'watcher/managed-images': 'main=registry.example/https',
    'watcher/main.helm.image-tag': 'image.tag',
  }
  await simulator.control.createApplication({ name: 'https', source: https, annotations })
  const { keyPath } = simulator.git
  const provider = started.use(await reserveIdentityProvider())
  const database = started.use(await createTestDatabase())
  const databaseProxy = started.use(await startFaultProxy({ port: Number(new URL(database.url).port) }))

  const service = started.use(
    await startService({
      databaseUrl: Object.assign(new URL(database.url), { port: String(databaseProxy.port) }).href,
      settings: {
        ...settingsFor(simulator),
        ...provider.settings,
        ARGO_URL: withUserinfo(simulator.argoUrl, secrets.argoUserinfo),
        ARGO_URL_ALIAS: withUserinfo('http://argocd.example', secrets.aliasUserinfo),
        DOCKER_IMAGES_PROXY: `watcher:${secrets.proxyUserinfo}@proxy.example`,
        WATCHER_DEPLOY_TOKEN: secrets.deployToken,
        JWT_SECRET: secrets.jwtSecret,
        JWT_SECRET_PREVIOUS: secrets.jwtSecretPrevious,
        SSH_KEY_PATH: await encryptedKey(keyPath, path.join(folder, 'key'), secrets.sshKeyPass),
        SSH_KEY_PASS: secrets.sshKeyPass,
        SSH_SIGNING_KEY_PATH: await encryptedKey(keyPath, path.join(folder, 'signing'), secrets.signingKeyPass),
        SSH_SIGNING_KEY_PASS: secrets.signingKeyPass,
        GIT_CREDENTIALS: `127.0.0.1:${httpsHost.port}=watcher:${secrets.gitPassword}`,
        GIT_CA_FILE: authorityPath,
        LOG_LEVEL: 'trace',
      },
    }),
  )
  await provider.start(service.url)
  provider.users.set('ada', {})

  const answers: string[] = []
  const keep = ({ status, headers, body }: Answer): Answer => {
    answers.push(`${status} ${JSON.stringify([...headers])} ${typeof body === 'string' ? body : JSON.stringify(body)}`)
    return { status, headers, body }
  }
  const get = async (pathname: string) => keep(await service.request(pathname))
  let timeout = 30
  const send = async (app: string, tag: string, headers: Record<string, string> = {}, query = '') => {
    const body = JSON.stringify(aTask({ app, images: [{ image: `registry.example/${app}`, tag }], timeout }))
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
    return keep(await service.request(`/api/v1/tasks${query}`, init))
  }
  /** Asks again, as a client does, where the database of a busy machine did not answer in time. */
  const submit = async (...task: Parameters<typeof send>): Promise<Answer> => {
    const answer = await send(...task)
    return answer.status === 503 ? submit(...task) : answer
  }
  const endOf = async (answer: Answer) => {
    const { id } = z.object({ id: z.string() }).parse(answer.body)
    const { status, status_reason: reason } = await service.waitForEnd(id)
    return { status, reason }
  }
  const inQuery = (token: string) => `?deploy_token=${encodeURIComponent(token)}`

  using watched = watchArguments()
  // What goes well, with each credential.
  const good = { 'Watcher-Deploy-Token': secrets.deployToken }
  expect((await endOf(await submit('shop', 'v2', good))).status).toBe('deployed')
  expect((await endOf(await submit('shop', 'v3', {}, inQuery(secrets.deployToken)))).status).toBe('deployed')
  expect((await endOf(await submit('shop', 'v4', { Authorization: tokens.jwt }))).status).toBe('deployed')
  expect((await submit('gone', 'v4', { Authorization: `Bearer ${tokens.previousJwt}` })).status).toBe(202)
  const browser = createHttpBrowser()
  await browser.signIn(service.url, 'ada')
  const session = browser.cookies(service.url).get('watcher-session') ?? ''
  const accessToken = await provider.issueOpaqueToken('ada')
  expect((await submit('gone', 'v5', { 'Oidc-Authorization': accessToken })).status).toBe(202)
  const wanted = { description: 'canary', expires: exp }
  const issued = await (await browser.change(service.url, '/api/v1/deploy-tokens', 'POST', wanted)).json()
  const scopedToken = z.object({ token: z.string() }).parse(issued).token // in this one answer, and nowhere else
  expect((await submit('gone', 'v6', { Authorization: scopedToken })).status).toBe(202)

  // What is refused.
  const refused = [
    submit('shop', 'x', { 'Watcher-Deploy-Token': secrets.wrongDeployToken }),
    submit('shop', 'x', {}, inQuery(secrets.wrongDeployToken)),
    submit('shop', 'x', { Authorization: tokens.expiredJwt }),
    submit('shop', 'x', { Authorization: tokens.forgedJwt }),
    submit('shop', 'x', { Authorization: `${tokens.jwt} ${secrets.deployToken}` }),
    submit('shop', 'x', { 'Oidc-Authorization': `Bearer ${tokens.jwt}` }),
    submit('shop', 'x', { ...good, Authorization: tokens.forgedJwt }, inQuery(secrets.deployToken)),
  ]
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual(refused.map(() => 401))
  await get(`/api/v1/nothing${inQuery(secrets.deployToken)}`)
  await get(`/api/v1/tasks/x${inQuery(secrets.deployToken)}&limit=x`)

  // What fails elsewhere, with the secrets in the words of others.
  const told = `no: ${writtenForms(secrets.sshKeyPass)} ${writtenForms(secrets.gitPassword)}`
  simulator.git.host.setFault({ kind: 'reject', message: told })
  const rejected = await endOf(await submit('shop', 'v7', good))
  simulator.git.host.setFault(undefined)
  timeout = 10 // the simulator does not read over https
  const unread = await endOf(await submit('https', 'v9', good))
  expect(await httpsHost.git('ops/gitops.git', 'log', '--format=%B')).toContain('Watcher-Task: ')
  httpsHost.state.password = 'another'
  const denied = await endOf(await submit('https', 'v10', good))
  for (const { status, reason } of [rejected, unread, denied])
    expect([status, reason]).toEqual(['failed', expect.any(String)])
  timeout = 3 // from here on all is tried until then
  const echo = `at ${withUserinfo(simulator.argoUrl, secrets.argoUserinfo)}: ${writtenForms(simulator.argoToken)}`
  const faults = simulator.control.faults.http
  for (const status of [401, 403, 500]) {
    faults.add({ action: { kind: 'error', status, message: `invalid token ${echo}` } })
    simulator.argo.endStreams('reset')
    await submit('shop', `v-${status}`, good)
    await expect.poll(async () => JSON.stringify((await get('/healthz')).body)).toMatch(/degraded|down/)
    faults.clear()
  }
  await endOf(await submit('shop', 'v10', good))
  databaseProxy.mood = 'refuse'
  databaseProxy.cut()
  expect((await send('shop', 'v11', good)).status).toBe(503)
  await get('/healthz')
  databaseProxy.mood = 'well'
  await expect.poll(async () => (await get('/readyz')).status).toBe(200)

  // Everything there is to read.
  const { tasks } = z.object({ tasks: z.array(z.object({ id: z.string() })) }).parse((await get('/api/v1/tasks')).body)
  for (const { id } of tasks) for (const suffix of ['', '/events']) await get(`/api/v1/tasks/${id}${suffix}`)
  for (const name of ['config', 'version', 'reachability', 'deploy-lock/details', 'events', 'session'])
    await get(`/api/v1/${name}`)
  for (const name of ['metrics', 'healthz', 'swagger/index.html/json']) await get(`/${name}`)
  for (const name of ['audit', 'deploy-tokens', 'session'])
    answers.push(await (await browser.request(`${service.url}/api/v1/${name}`)).text())
  expect(await service.kill('SIGTERM')).toBe(0)

  const places = {
    logs: service.logs(),
    answers: answers.join('\n'),
    commits: JSON.stringify(await simulator.git.log('gitops')),
    arguments: watched.seen().join('\n'),
  }
  const databasePassword = decodeURIComponent(new URL(database.url).password)
  const idpSecret = provider.settings.IDP_CLIENT_SECRET
  const all = {
    ...secrets,
    ...tokens,
    argoToken: simulator.argoToken,
    databasePassword,
    idpSecret,
    session,
    accessToken,
    scopedToken,
  }
  console.info(
    `${Object.keys(all).length} canaries, ${answers.length} answers, ${places.logs.split('\n').length} lines of log,`,
    `${watched.seen().length} command lines`,
  )
  expect(watched.seen().length).toBeGreaterThan(5)
  expect(places.commits).toContain('Watcher-Task: ')
  const found = Object.entries(all).flatMap(([name, secret]) =>
    Object.entries(places).flatMap(([place, text]) =>
      formsOf(secret)
        .filter((form) => text.includes(form))
        .map(
          (form) =>
            `${name} in ${place}: …${text.slice(Math.max(0, text.indexOf(form) - 200), text.indexOf(form) + form.length + 20)}`,
        ),
    ),
  )
  expect(found).toEqual([])
})
