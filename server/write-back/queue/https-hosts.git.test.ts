import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { formsOf } from '../../../test/security/secret-forms.ts'
import { watchArguments } from '../../../test/security/watch-arguments.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { startFaultProxy } from '../../../test/support/fault-proxy.ts'
import { authorityPath, type HttpsGitHost, startHttpsGitHost } from '../../../test/support/start-https-git-host.ts'
import { aDatabase, aWriteBackService } from '../../../test/support/write-back-service.ts'
import { writeBackSettings } from '../../../test/support/write-back-settings.ts'
import type { WriteBackSettings } from '../plan/write-back-settings.ts'

const user = 'bot'
const password = 'tkn-5~of&this=test'
let host: HttpsGitHost
let made = 0

beforeAll(async () => {
  host = await startHttpsGitHost({ user, password })
})
afterAll(() => host[Symbol.asyncDispose]())

async function aRepository(): Promise<string> {
  made += 1
  const name = `team/h${made}.git`
  await host.createRepository(name, { 'README.md': 'hello\n' })
  return name
}

const aService = async (change: Partial<WriteBackSettings> = {}, port = host.port) =>
  aWriteBackService(
    writeBackSettings(
      { keyPath: '/none', knownHostsPath: '/none' },
      {
        gitCredentials: () => new Map([[`127.0.0.1:${port}`, { user, password }]]),
        gitCaFile: authorityPath,
        ...change,
      },
    ),
    await aDatabase(),
  )

async function aHook(repository: string, lines: string): Promise<void> {
  const hook = path.join(host.directory(repository), 'hooks', 'pre-receive')
  await writeFile(hook, `#!/bin/sh\n${lines}\n`)
  await chmod(hook, 0o755)
}

const countCommits = async (repository: string) => Number(await host.git(repository, 'rev-list', '--count', 'main'))

async function refusalOf(service: Awaited<ReturnType<typeof aService>>, address: string) {
  const outcome = await service.outcome(await service.queue(address))
  if (outcome.kind !== 'refused') throw new Error(`the write-back is ${outcome.kind}`)
  return { cause: outcome.cause, reason: outcome.reason }
}

test('a write-back lands, and the token is in no argument and in no file', async () => {
  const repository = await aRepository()
  const service = await aService()
  using watched = watchArguments()
  const outcome = await service.outcome(await service.queue(host.url(repository)))
  expect(outcome).toMatchObject({ kind: 'landed', repository: host.url(repository) })
  expect(await host.git(repository, 'rev-parse', 'main')).toBe(outcome.kind === 'landed' && outcome.commit)
  const texts = await Promise.all((await filesBelow(service.access.folder)).map((file) => readFile(file, 'latin1')))
  expect(watched.seen().join('\n')).toContain('git push')
  expect(texts.length).toBeGreaterThan(5)
  for (const form of formsOf(password))
    for (const text of [...texts, ...watched.seen(), JSON.stringify(outcome)]) expect(text).not.toContain(form)
})

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
}

test('a wrong token is missing access, after one try', async () => {
  const repository = await aRepository()
  const port = host.port
  const wrong = new Map([[`127.0.0.1:${port}`, { user, password: 'wrong-token' }]])
  const before = host.requests().length
  const { cause, reason } = await refusalOf(await aService({ gitCredentials: () => wrong }), host.url(repository))
  expect({ cause, reason }).toEqual({
    cause: 'git_access_denied',
    reason: expect.stringMatching(/^127\.0\.0\.1 denied access: .*GIT_CREDENTIALS/),
  })
  expect(reason).not.toContain('wrong-token')
  expect(host.requests().length - before).toBeLessThan(4)
})

test('a rotated token counts for the next command', async () => {
  const repository = await aRepository()
  const large = `# ${'x'.repeat(2_000)}\n`
  let current = password
  const gitCredentials = () => new Map([[`127.0.0.1:${host.port}`, { user, password: current }]])
  const service = await aService({ gitCredentials })
  expect(await service.outcome(await service.queue(host.url(repository)))).toMatchObject({ kind: 'landed' })
  // larger than what a fetch brings: the living reader asks the host for it
  const files = { 'apps/.watcher-source-other.yaml': large }
  await host.createRepository(repository, files)
  host.state.password = current = 'the-next-token'
  onTestFinished(() => {
    host.state.password = password
  })
  const outcome = await service.outcome(await service.queue(host.url(repository), { app: 'other' }))
  expect(outcome).toMatchObject({ kind: 'landed' })
})

test('an unknown certificate: the reason names GIT_CA_FILE', async () => {
  const { cause, reason } = await refusalOf(await aService({ gitCaFile: undefined }), host.url('team/any.git'))
  expect({ cause, reason }).toEqual({
    cause: 'git_host_key',
    reason: expect.stringMatching(
      /^the certificate of 127\.0\.0\.1 .*: add its authority to the file of GIT_CA_FILE\n/,
    ),
  })
})

test.for([
  { what: 'at once', isRedirected: () => true },
  { what: 'of the push alone', isRedirected: (url: string) => url.endsWith('/git-receive-pack') },
])('a redirect $what: nothing reaches the other host', async ({ isRedirected }) => {
  await using other = await startHttpsGitHost({ user, password })
  const repository = await aRepository()
  host.state.redirect = (url) => (isRedirected(url) ? `https://127.0.0.1:${other.port}${url}` : undefined)
  onTestFinished(() => {
    host.state.redirect = undefined
  })
  const { cause } = await refusalOf(await aService(), host.url(repository))
  expect(cause).toBe('git_repository_missing')
  expect(other.requests()).toEqual([])
})

test('a host that goes away and comes back', async () => {
  await using proxy = await startFaultProxy({ port: host.port })
  const repository = await aRepository()
  const service = await aService({ gitOpTimeoutMs: 10_000 }, proxy.port)
  const address = host.url(repository, proxy.port)
  for (const mood of ['refuse', 'swallow'] as const) {
    proxy.mood = mood
    const id = await service.queue(address, { app: mood })
    await eventually(async () => {
      const kinds = (await service.events(id)).map(({ kind }) => kind)
      expect(kinds).toContain('write_back_retry')
    })
    proxy.mood = 'well'
    expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
  }
  expect(await countCommits(repository)).toBe(3)
})

test('a host that goes away in the middle of a push: the commit lands once', async () => {
  await using proxy = await startFaultProxy({ port: host.port })
  const repository = await aRepository()
  const reached = path.join(host.directory(repository), 'reached')
  await aHook(repository, `[ -e ${reached} ] || { touch ${reached}; sleep 1; }`)
  const service = await aService({}, proxy.port)
  const id = await service.queue(host.url(repository, proxy.port))
  await eventually(() => stat(reached))
  proxy.cut()
  expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
  expect(await countCommits(repository)).toBe(2)
})

test('a hook that is quiet for longer than a stalled transfer may be', async () => {
  const repository = await aRepository()
  await aHook(repository, 'sleep 24')
  const service = await aService({ gitOpTimeoutMs: 90_000 })
  const id = await service.queue(host.url(repository))
  expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
  expect((await service.events(id)).map(({ kind }) => kind)).not.toContain('write_back_retry')
  expect(await countCommits(repository)).toBe(2)
})
