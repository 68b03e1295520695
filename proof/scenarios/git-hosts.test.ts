import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import https from 'node:https'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { causeOfFailure } from '../../server/write-back/git/access/git-error.ts'
import type { WriteBackSettings } from '../../server/write-back/plan/write-back-settings.ts'
import { eventually } from '../../test/support/eventually.ts'
import { startFileGitHost } from '../../test/support/file-git-host.ts'
import { hostWords } from '../../test/support/git-host-words.ts'
import { aDatabase, aWriteBackService } from '../../test/support/write-back-service.ts'
import { writeBackSettings } from '../../test/support/write-back-settings.ts'

const { host, aRepository, aHook } = await startFileGitHost()

const aService = async (change: Partial<WriteBackSettings> = {}) =>
  aWriteBackService(writeBackSettings(host, change), await aDatabase())

function turnAway(message: string, service?: 'git-upload-pack' | 'git-receive-pack'): void {
  host.setFault({ kind: 'turn-away', message, ...(service && { service }) })
  onTestFinished(() => host.setFault(undefined))
}

const countCommands = (repository: string, service: string) =>
  host.commands().filter((command) => command === `${service} ${repository}`).length

async function refusalOf(service: Awaited<ReturnType<typeof aService>>, address: string) {
  const beganMs = performance.now()
  const outcome = await service.outcome(await service.queue(address))
  expect(performance.now() - beganMs).toBeLessThan(50_000) // ten times the bar
  if (outcome.kind !== 'refused') throw new Error(`the write-back is ${outcome.kind}`)
  const [first = '', ...rest] = outcome.reason.split('\n')
  return { cause: outcome.cause, first, rest: rest.join('\n') }
}

describe('an invalid credential, host key, repository or branch ends the task after one attempt (F23), with host and advice in the first line', () => {
  const permanent = hostWords.flatMap((words) => {
    const { when, over, means } = words
    if (over !== 'ssh' || when === 'report' || means === 'rule' || means === 'unreachable') return []
    const service = when === 'push' ? 'git-receive-pack' : 'git-upload-pack'
    return [{ ...words, cause: causeOfFailure[means], service } as const]
  })

  test('the words of every common Git host', { timeout: 120_000 }, async () => {
    const service = await aService()
    for (const { host: of, situation, says, cause, service: turnedAway } of permanent) {
      const repository = await aRepository()
      const message = says.split('\nfatal: Could not read')[0] ?? ''
      turnAway(message, turnedAway)
      expect(await refusalOf(service, host.url(repository)), `${of}, ${situation}`).toEqual({
        cause,
        first: expect.stringMatching(/127\.0\.0\.1.*: /),
        rest: expect.stringContaining(message.trim()),
      })
      expect(countCommands(repository, turnedAway), `${of}, ${situation}`).toBe(1)
    }
  })

  test('a repository with SHA-256 names', async () => {
    const directory = host.directory('sha256.git')
    await promisify(execFile)('git', ['init', '-q', '--bare', '-b', 'main', '--object-format=sha256', directory])
    const tree = await host.git('sha256.git', 'mktree')
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.test']
    const commit = await host.git('sha256.git', ...author, 'commit-tree', '-m', 'first', tree)
    await host.git('sha256.git', 'update-ref', 'refs/heads/main', commit)
    const { cause, first } = await refusalOf(await aService(), host.url('sha256.git'))
    expect({ cause, first }).toEqual({
      cause: 'git_repository_missing',
      first: expect.stringMatching(/127\.0\.0\.1.*SHA-256.*: use/),
    })
    expect(countCommands('sha256.git', 'git-upload-pack')).toBe(1)
  })

  test('a hook that denies writing at all is missing access', async () => {
    const repository = await aRepository()
    await aHook(repository, 'pre-receive', 'echo "Gitea: User permission denied for writing."\nexit 1')
    const { cause } = await refusalOf(await aService(), host.url(repository))
    expect(cause).toBe('git_access_denied')
  })

  test('an https host whose certificate is not known', async () => {
    const read = (name: string) => readFile(new URL(`../../test/fixtures/tls/${name}`, import.meta.url))
    const server = https.createServer({ key: await read('key.pem'), cert: await read('certificate.pem') })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const gitCredentials = () => new Map([[`127.0.0.1:${port}`, { user: 'bot', password: 'not-to-be-shown' }]])
    const service = await aService({ gitCredentials })
    const { cause, first } = await refusalOf(service, `https://127.0.0.1:${port}/team/deploy.git`)
    expect({ cause, first }).toEqual({
      cause: 'git_host_key',
      first: expect.stringMatching(/certificate of 127\.0\.0\.1.*: add/),
    })
  })
})

describe('words that nobody knows', () => {
  test('are shown and tried again, and make the cache again once a minute at most', async () => {
    const repository = await aRepository()
    const service = await aService()
    turnAway('the moon is full', 'git-receive-pack')
    const id = await service.queue(host.url(repository))
    const retries = async () => (await service.events(id)).filter(({ kind }) => kind === 'write_back_retry')
    await eventually(async () =>
      expect(await retries()).toEqual([
        { kind: 'write_back_retry', detail: expect.stringContaining('the moon is full') },
      ]),
    )
    const [cache = ''] = (await readdir(service.access.folder)).filter((name) => /^[0-9a-f]{16}$/.test(name))
    const marker = path.join(service.access.folder, cache, 'marker')
    await writeFile(marker, '')
    const before = countCommands(repository, 'git-receive-pack')
    await eventually(() => expect(countCommands(repository, 'git-receive-pack')).toBeGreaterThan(before + 2))
    await stat(marker)
    host.setFault(undefined)
    expect(await service.outcome(id)).toMatchObject({ kind: 'landed' })
  })
})

test('an SSH address with a blank as %20', async () => {
  await mkdir(host.directory('My Team'))
  await host.createRepository('My Team/deploy.git', { 'README.md': 'hello\n' })
  const service = await aService()
  const outcome = await service.outcome(await service.queue(host.url('My%20Team/deploy.git')))
  expect(outcome).toMatchObject({ kind: 'landed', repository: host.url('My%20Team/deploy.git') })
})
