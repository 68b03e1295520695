import { execFile } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { countedGit } from '../../../../test/support/counted-git.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { runningCommands } from '../../../../test/support/running-commands.ts'
import { type GitHost, startGitHost } from '../../../../test/support/start-git-host.ts'
import { writeBackSettings } from '../../../../test/support/write-back-settings.ts'
import type { WriteBackSettings } from '../../plan/write-back-settings.ts'
import { openGitRepository } from '../push/git-repository.ts'
import { openGitAccess } from './git-access.ts'
import { createRepositoryCache } from './repository-cache.ts'

let host: GitHost
let made = 0

beforeAll(async () => {
  host = await startGitHost()
})
afterAll(() => host[Symbol.asyncDispose]())

const passphrase = 'open sesame'

/** With the file that git verifies signatures by. */
async function aKey(kind: readonly string[], isEncrypted: boolean) {
  made += 1
  const file = path.join(host.folder, `signing-${made}`)
  const locked = isEncrypted ? passphrase : ''
  await promisify(execFile)('ssh-keygen', ['-q', ...kind, '-N', locked, '-C', 'w', '-f', file])
  const signers = `${file}.signers`
  await writeFile(signers, `watcher@example.test namespaces="git" ${await readFile(`${file}.pub`, 'utf8')}`)
  return { file, signers }
}

async function open(change: Partial<WriteBackSettings>, searchPath = process.env.PATH ?? '') {
  made += 1
  const name = `s${made}.git`
  await host.createRepository(name, { 'README.md': 'hello\n' })
  const settings = writeBackSettings(host, change)
  const access = await openGitAccess(settings, searchPath)
  const { commitAuthor: author, gitOpTimeoutMs } = settings
  const repository = openGitRepository(host.url(name), createRepositoryCache(name, 'main', access), {
    access,
    author,
    gitOpTimeoutMs,
    nowMs: Date.now,
  })
  onTestFinished(async () => {
    repository.closeReader()
    await access[Symbol.asyncDispose]()
    await rm(settings.repoCachePath, { recursive: true, force: true })
  })
  return { name, repository, access, settings }
}

const commits = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    path: `apps/.watcher-source-a${at}.yaml`,
    mode: '100644' as const,
    content: `tag: v${at}\n`,
    message: `chore(a${at}): “release”\n\nWatcher-Task: ${at}`,
  }))

const verify = (name: string, signers: string, commit: string) =>
  host.git(name, '-c', `gpg.ssh.allowedSignersFile=${signers}`, 'verify-commit', commit)

describe('signed commits (SSH_SIGNING_KEY_PATH)', () => {
  test.for([
    { what: 'an Ed25519 key', kind: ['-t', 'ed25519'], isEncrypted: false },
    { what: 'an encrypted Ed25519 key', kind: ['-t', 'ed25519'], isEncrypted: true },
    { what: 'an encrypted RSA key in PEM', kind: ['-t', 'rsa', '-b', '2048', '-m', 'PEM'], isEncrypted: true },
    { what: 'an ECDSA key', kind: ['-t', 'ecdsa'], isEncrypted: false },
  ])('$what: git accepts each commit of a batch', async ({ kind, isEncrypted }) => {
    const key = await aKey(kind, isEncrypted)
    const signingKeyPass = isEncrypted ? () => passphrase : undefined
    const { name, repository, access } = await open({ signingKeyPath: key.file, signingKeyPass })
    expect(await access.checkKeys()).toEqual([])
    const tip = await repository.readTip('known')
    const outcome = await repository.push(tip, commits(3), async () => true)
    if (outcome.kind !== 'pushed') throw new Error(outcome.kind)
    const log = await host.git(name, 'log', '--reverse', '--format=%H', `${tip.commit}..main`)
    expect(log.split('\n')).toEqual(outcome.commits)
    for (const commit of outcome.commits) await verify(name, key.signers, commit)
    const people = await host.git(name, 'log', '-1', '--format=%an <%ae> %cn <%ce>%n%B', 'main')
    expect(people).toBe(
      'Watcher <watcher@example.test> Watcher <watcher@example.test>\nchore(a2): “release”\n\nWatcher-Task: 2',
    )
    await host.git(name, 'fsck', '--strict')
  })

  test('a burst of 100 with an encrypted key costs three git processes, and no agent or file stays behind', async () => {
    const key = await aKey(['-t', 'ed25519'], true)
    const { searchPath, commands } = await countedGit()
    const signing = { signingKeyPath: key.file, signingKeyPass: () => passphrase }
    const { name, repository, access, settings } = await open(signing, searchPath)
    const tip = await repository.readTip('known')
    const before = (await commands()).length
    const outcome = await repository.push(tip, commits(100), async () => true)
    if (outcome.kind !== 'pushed') throw new Error(outcome.kind)
    expect((await commands()).slice(before)).toEqual(['fast-import', 'hash-object', 'push'])
    const kept = await readdir(settings.repoCachePath, { recursive: true })
    expect(kept.filter((file) => file.includes('signed-'))).toEqual([])
    for (const at of [0, 1, 50, 99]) await verify(name, key.signers, outcome.commits[at] ?? '')
    expect(new Set(outcome.commits).size).toBe(100)
    await eventually(async () =>
      expect((await runningCommands()).filter((line) => line.includes(access.folder))).not.toContainEqual(
        expect.stringContaining('ssh-agent'),
      ),
    )
  })

  test('a wrong passphrase is named at the start, and a push with it is tried again', async () => {
    const key = await aKey(['-t', 'ed25519'], true)
    const { repository, access } = await open({ signingKeyPath: key.file, signingKeyPass: () => 'open barley' })
    expect(await access.checkKeys()).toEqual([
      'SSH_SIGNING_KEY_PASS: the passphrase does not open the key of SSH_SIGNING_KEY_PATH',
    ])
    const tip = await repository.readTip('known')
    await expect(repository.push(tip, commits(1), async () => true)).rejects.toMatchObject({
      code: 'machine',
      message: expect.stringContaining('SSH_SIGNING_KEY_PATH'),
    })
  })

  test('without a key nothing is signed', async () => {
    const { name, repository } = await open({})
    await repository.push(await repository.readTip('known'), commits(1), async () => true)
    expect(await host.git(name, 'cat-file', 'commit', 'main')).not.toContain('gpgsig')
  })
})
