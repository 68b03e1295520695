import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type BareRepository, openBareRepository } from './bare-repository.ts'
import { createDiskGitView } from './disk-git-view.ts'
import { loadHostKeys } from './host-keys.ts'
import { type SshGitHost, startSshGitHost } from './ssh-git-host.ts'

const run = promisify(execFile)
let folder: string
let host: SshGitHost
let repository: BareRepository

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulator-git-'))
  host = await startSshGitHost({ folder: join(folder, 'repositories'), keys: loadHostKeys(join(folder, 'ssh')) })
  repository = await openBareRepository(join(folder, 'repositories', 'gitops.git'))
  await repository.commit({ 'app/values.yaml': 'tag: "1"\n' }, { message: 'Start' })
})

afterEach(async () => {
  await host.close()
  await rm(folder, { recursive: true, force: true })
})

function sshCommand(more = ''): string {
  const options = [
    'StrictHostKeyChecking=yes',
    'IdentitiesOnly=yes',
    'BatchMode=yes',
    `UserKnownHostsFile=${join(folder, 'ssh/known-hosts')}`,
  ]
  return `ssh -F /dev/null -i ${join(folder, 'ssh/client-key')} ${options.map((option) => `-o ${option}`).join(' ')} ${more}`
}

function git(cwd: string, args: readonly string[], { ssh = sshCommand(), timeoutMs = 20_000 } = {}) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_SSH_COMMAND: ssh,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.org',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.org',
  }
  return run('git', args, { cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL' })
}

const address = () => `ssh://git@127.0.0.1:${host.port}/gitops.git`

async function cloneWithCommit(tag: string): Promise<string> {
  const clone = join(folder, `clone-${tag}`)
  await git(folder, ['clone', '--quiet', address(), clone])
  await writeFile(join(clone, 'app/values.yaml'), `tag: "${tag}"\n`)
  await git(clone, ['commit', '--quiet', '-am', `tag ${tag}`])
  return clone
}

describe('the Git host', () => {
  test('clone, commit and push with the OpenSSH client; the controller sees the commit without a fetch', async () => {
    const view = createDiskGitView(() => repository.folder)
    const before = await view.resolve(address(), 'main')
    const clone = await cloneWithCommit('2')
    await git(clone, ['push', '--quiet'])
    const after = await view.resolve(address(), 'main')
    expect(after).not.toEqual(before)
    expect(after).toEqual({ kind: 'commit', sha: await repository.head() })
    expect(await view.filesAt(address(), after.kind === 'commit' ? after.sha : '', 'app')).toEqual(
      new Map([['values.yaml', 'tag: "2"\n']]),
    )
    expect((await repository.log()).map(({ message }) => message)).toEqual(['tag 2', 'Start'])
    expect(host.commands().map(({ service, exitCode }) => [service, exitCode])).toEqual([
      ['git-upload-pack', 0],
      ['git-receive-pack', 0],
    ])
    view.close()
  })

  test('one connection carries several commands (ControlMaster), and partial clones work', async () => {
    const socket = join(folder, 'mux')
    const ssh = sshCommand(`-o ControlMaster=auto -o ControlPath=${socket} -o ControlPersist=30`)
    await git(folder, ['clone', '--quiet', '--bare', '--filter=blob:none', '--depth=1', address(), 'bare'], { ssh })
    expect((await stat(socket)).isSocket()).toBe(true)
    const { stdout } = await git(folder, ['-c', 'protocol.version=2', 'ls-remote', address(), 'main'], { ssh })
    expect(stdout).toContain(await repository.head())
    await run('ssh', [
      '-F',
      '/dev/null',
      '-o',
      `ControlPath=${socket}`,
      '-O',
      'exit',
      '-p',
      String(host.port),
      'git@127.0.0.1',
    ])
  })

  test('the private key is readable by its owner only', async () => {
    expect((await stat(join(folder, 'ssh/client-key'))).mode & 0o777).toBe(0o600)
  })

  test('an unknown key is turned away', async () => {
    const stranger = loadHostKeys(join(folder, 'stranger'))
    const ssh = sshCommand().replace(join(folder, 'ssh/client-key'), stranger.clientKeyPath)
    await expect(git(folder, ['ls-remote', address()], { ssh })).rejects.toThrow(/Permission denied \(publickey\)/)
  })

  test("a repository that does not exist is refused in git's words", async () => {
    await expect(git(folder, ['ls-remote', address().replace('gitops', 'nothing')])).rejects.toThrow(
      /does not appear to be a git repository/,
    )
  })

  test('a push that is not a fast-forward is rejected by git itself', async () => {
    const clone = await cloneWithCommit('2')
    await repository.commit({ other: 'file' }, { message: 'Somebody was faster' })
    await expect(git(clone, ['push', '--quiet'])).rejects.toThrow(/\[rejected\]/)
  })

  test("fault reject: the hook's message reaches the client, fetching goes on", async () => {
    const clone = await cloneWithCommit('2')
    host.setFault({ kind: 'reject', message: 'branch is protected' })
    await expect(git(clone, ['push'])).rejects.toThrow(/branch is protected/)
    await git(clone, ['fetch', '--quiet'])
    host.setFault(undefined)
    await git(clone, ['push', '--quiet'])
  })

  test('fault close: the connection breaks in the middle, once', async () => {
    host.setFault({ kind: 'close' }, 1)
    await expect(git(folder, ['clone', '--quiet', address(), 'broken'])).rejects.toThrow()
    await git(folder, ['clone', '--quiet', address(), 'whole'])
  })

  test('fault hang: no answer for as long as the client waits', async () => {
    host.setFault({ kind: 'hang' })
    await expect(git(folder, ['ls-remote', address()], { timeoutMs: 500 })).rejects.toMatchObject({ killed: true })
  })

  test('no listener: connections are refused until it listens again', async () => {
    const { port } = host
    await host.stopListening()
    await expect(git(folder, ['ls-remote', address()])).rejects.toThrow(/Connection refused/)
    expect(await host.listenAgain()).toBe(port)
    await git(folder, ['ls-remote', address()])
  })

  test('no listener: a client that had come and says its name only now is not waited for', async () => {
    const client = connect(host.port, '127.0.0.1')
    await once(client, 'data') // the name of the host
    const stopped = host.stopListening()
    client.write('SSH-2.0-late\r\n')
    await stopped
    await host.listenAgain()
  })
})

test('commits of several people at once all reach the branch', async () => {
  await Promise.all(
    [1, 2, 3, 4].map((number) => repository.commit({ [`file-${number}`]: 'x' }, { message: `${number}` })),
  )
  expect(await repository.log()).toHaveLength(5)
})
