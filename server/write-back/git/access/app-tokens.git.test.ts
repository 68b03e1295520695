import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { formsOf } from '../../../../test/security/secret-forms.ts'
import { watchArguments } from '../../../../test/security/watch-arguments.ts'
import { startGitHubDouble } from '../../../../test/support/github-double.ts'
import { authorityPath, type HttpsGitHost, startHttpsGitHost } from '../../../../test/support/start-https-git-host.ts'
import { aDatabase, aWriteBackService } from '../../../../test/support/write-back-service.ts'
import { writeBackSettings } from '../../../../test/support/write-back-settings.ts'
import { createGitHubApp } from '../../../git-hosts/github-app.ts'
import { createPost } from '../../../http/outgoing/post.ts'
import type { WriteBackSettings } from '../../plan/write-back-settings.ts'
import { appTokens } from './https-environment.ts'

const opened = new AsyncDisposableStack()
let gitHub: Awaited<ReturnType<typeof startGitHubDouble>>
let host: HttpsGitHost
let call: ReturnType<typeof createPost>['post']
let made = 0

beforeAll(async () => {
  gitHub = opened.use(await startGitHubDouble())
  host = opened.use(await startHttpsGitHost({ user: 'x-access-token', password: 'of-the-host' }, gitHub.mayUseGit))
  call = opened.use(createPost()).post
})
afterAll(() => opened.disposeAsync())
beforeEach(() => gitHub.forget())

const anApp = () => {
  const { GITHUB_APP_ID: id, GITHUB_APP_PRIVATE_KEY: key, GITHUB_API_URL: apiUrl } = gitHub.settings
  return createGitHubApp({ settings: { id, privateKey: () => key, apiUrl }, call, wallMs: Date.now })
}

const aService = async (change: Partial<WriteBackSettings> = {}) =>
  aWriteBackService(
    writeBackSettings(
      { keyPath: '/none', knownHostsPath: '/none' },
      { gitCaFile: authorityPath, appHost: `127.0.0.1:${host.port}`, ...change },
    ),
    await aDatabase(),
    process.env.PATH,
    appTokens(anApp()),
  )

async function aRepository(...permissions: readonly string[]): Promise<string> {
  const name = `acme/app-${++made}`
  await host.createRepository(`${name}.git`, { 'README.md': 'hello\n' })
  if (permissions.length > 0) gitHub.install(name, ...permissions)
  return name
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
}

test('a push, a fetch and a question of ancestry use one token, which is in no argument and no file', async () => {
  const repository = await aRepository('contents')
  const service = await aService()
  const url = host.url(`${repository}.git`)
  const before = await host.git(`${repository}.git`, 'rev-parse', 'main')
  using watched = watchArguments()
  const outcome = await service.outcome(await service.queue(url))
  const tip = await host.git(`${repository}.git`, 'rev-parse', 'main')
  expect(outcome).toMatchObject({ kind: 'landed', commit: tip })
  expect(await service.history.ancestry(url, before, tip)).toBe('descendant')
  expect(gitHub.calls().map(({ operation }) => operation)).toEqual(['findInstallation', 'createToken'])
  expect(gitHub.calls()[1]?.body).toEqual({
    repositories: [repository.slice('acme/'.length)],
    permissions: { contents: 'write' },
  })
  const texts = await Promise.all((await filesBelow(service.access.folder)).map((file) => readFile(file, 'latin1')))
  expect(watched.seen().join('\n')).toContain('git push')
  for (const form of gitHub.tokens().flatMap(formsOf))
    for (const text of [...texts, ...watched.seen(), JSON.stringify(outcome)]) expect(text).not.toContain(form)
  expect(service.access.redact(`said ${gitHub.tokens().at(-1)}`)).toBe('said <redacted>')
  expect(gitHub.refusals()).toEqual([])
})

test('a token that ends while it is kept is replaced once, and nothing fails', async () => {
  const repository = await aRepository('contents')
  const service = await aService()
  const url = host.url(`${repository}.git`)
  expect(await service.outcome(await service.queue(url))).toMatchObject({ kind: 'landed' })
  gitHub.endTokens()
  const id = await service.queue(url, { app: 'other' })
  expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
  expect((await service.events(id)).map(({ kind }) => kind)).not.toContain('write_back_retry')
  expect(gitHub.calls().filter(({ operation }) => operation === 'createToken')).toHaveLength(2)
  expect(await host.git(`${repository}.git`, 'rev-list', '--count', 'main')).toBe('3')
})

test.for<[string, readonly string[], RegExp]>([
  [
    'the App is not installed',
    [],
    /^GitHub App 123 is not installed on acme\/app-\d+, or there is no such repository$/,
  ],
  ['it may not write', ['deployments'], /lacks the permission contents: write/],
])('%s: the reason says so, and the host gets no request', async ([, permissions, reason]) => {
  const repository = await aRepository(...permissions)
  const before = host.requests().length
  const service = await aService()
  const outcome = await service.outcome(await service.queue(host.url(`${repository}.git`)))
  expect(outcome).toMatchObject({ kind: 'refused', cause: 'git_access_denied', reason: expect.stringMatching(reason) })
  expect(host.requests().length).toBe(before)
})

test('an API that does not answer for a moment is asked again', async () => {
  const repository = await aRepository('contents')
  gitHub.fail('createToken', { status: 503 })
  const service = await aService()
  expect(await service.outcome(await service.queue(host.url(`${repository}.git`)))).toMatchObject({ kind: 'landed' })
})

test('an entry of GIT_CREDENTIALS wins', async () => {
  const repository = await aRepository()
  const login = { user: 'x-access-token', password: 'of-the-host' }
  const service = await aService({ gitCredentials: () => new Map([[`127.0.0.1:${host.port}`, login]]) })
  expect(await service.outcome(await service.queue(host.url(`${repository}.git`)))).toMatchObject({ kind: 'landed' })
  expect(gitHub.calls()).toEqual([])
})
