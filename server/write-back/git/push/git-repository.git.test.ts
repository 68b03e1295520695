import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdtemp, open as openFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { startFaultProxy } from '../../../../test/support/fault-proxy.ts'
import { runningCommands } from '../../../../test/support/running-commands.ts'
import { type GitHost, startGitHost } from '../../../../test/support/start-git-host.ts'
import { writeBackSettings } from '../../../../test/support/write-back-settings.ts'
import { parseRepositoryAddress } from '../../plan/repository-address.ts'
import type { WriteBackSettings } from '../../plan/write-back-settings.ts'
import { type GitAccess, openGitAccess } from '../access/git-access.ts'
import { createRepositoryCache } from '../access/repository-cache.ts'
import { type GitRepository, openGitRepository, type Tip } from './git-repository.ts'

let host: GitHost
let made = 0

beforeAll(async () => {
  host = await startGitHost()
})
afterAll(() => host[Symbol.asyncDispose]())

const file = 'apps/shop/.watcher-source-shop.yaml'
const aCommit = (content: string, mode: '100644' | '100755' = '100644') => ({
  path: file,
  mode,
  content,
  message: `set ${content}`,
})
const always = async () => true

async function openAccess(change: Partial<WriteBackSettings> = {}, searchPath = process.env.PATH ?? '') {
  const settings = writeBackSettings(host, change)
  const access = await openGitAccess(settings, searchPath)
  onTestFinished(async () => {
    await access[Symbol.asyncDispose]()
    await rm(settings.repoCachePath, { recursive: true, force: true })
  })
  return { access, settings }
}

const open = (name: string, change: Partial<WriteBackSettings> = {}, branch = 'main', searchPath?: string) =>
  openAt(host.url(name), change, branch, searchPath)

async function openAt(address: string, change: Partial<WriteBackSettings>, branch = 'main', searchPath?: string) {
  const { access, settings } = await openAccess(change, searchPath)
  const { commitAuthor: author, gitOpTimeoutMs } = settings
  const cache = createRepositoryCache(address, branch, access)
  const repository = openGitRepository(address, cache, { access, author, gitOpTimeoutMs, nowMs: Date.now })
  onTestFinished(() => repository.closeReader())
  return { repository, access, settings }
}

async function aRepository(
  files: Record<string, string> = { 'README.md': 'hello\n', [file]: 'old\n' },
): Promise<string> {
  made += 1
  const name = `r${made}.git`
  await host.createRepository(name, files)
  return name
}

async function pushOne(repository: GitRepository, content: string) {
  return repository.push(await repository.readTip('known'), [aCommit(content)], always)
}

describe('a repository that is written to without a work tree', () => {
  test('reads the tip and files, pushes a chain of commits and needs no fetch for the next one', async () => {
    const name = await aRepository()
    const { repository } = await open(name)
    const tip = await repository.readTip('known')
    expect(tip).toMatchObject({ isFresh: true })
    const files = await repository.readFiles(tip, [file, 'none/x.yaml'])
    expect(files.get(file)).toMatchObject({ kind: 'file', mode: '100644', content: Buffer.from('old\n') })
    expect(files.get('none/x.yaml')).toEqual({ kind: 'absent' })

    const outcome = await repository.push(
      tip,
      [aCommit('one'), { ...aCommit('two'), path: 'new/folder/x.yaml' }],
      always,
    )
    expect(outcome).toMatchObject({ kind: 'pushed' })
    const fetches = host.commands().length
    expect(await pushOne(repository, 'three')).toMatchObject({ kind: 'pushed' })
    expect(host.commands().slice(fetches)).toEqual([expect.stringContaining('receive-pack')])
    expect(await host.git(name, 'log', '--format=%an <%ae> %cn %s', '-3', 'main')).toBe(
      ['set three', 'set two', 'set one']
        .map((subject) => `Watcher <watcher@example.test> Watcher ${subject}`)
        .join('\n'),
    )
    expect(await host.git(name, 'diff', '--name-only', tip.commit, 'main')).toBe(`${file}\nnew/folder/x.yaml`)
    await host.git(name, 'fsck', '--strict')
  })

  test('keeps the mode of the file and reads a large one on demand', async () => {
    const large = `# ${'x'.repeat(5_000)}\n`
    const name = await aRepository({ [file]: large })
    const { repository } = await open(name)
    const read = await repository.readFiles(await repository.readTip('known'), [file])
    expect(read.get(file)).toMatchObject({ kind: 'file', content: Buffer.from(large) })
    await repository.push(await repository.readTip('known'), [aCommit('x', '100755')], always)
    expect(await host.git(name, 'ls-tree', 'main', file)).toMatch(/^100755 /)
  })

  test('reads many large files with one fetch, and again with none', async () => {
    const large = Array.from({ length: 20 }, (_, at) => [`apps/${at}.yaml`, `# ${at} ${'x'.repeat(5_000)}\n`] as const)
    const name = await aRepository({ ...Object.fromEntries(large), [file]: 'small\n' })
    const { repository } = await open(name)
    const tip = await repository.readTip('known')
    const read = async () => {
      const before = host.commands().length
      const files = await repository.readFiles(tip, [file, 'none/x.yaml', ...large.map(([path]) => path)])
      for (const [path, content] of large) expect(files.get(path)).toMatchObject({ content: Buffer.from(content) })
      return host.commands().slice(before)
    }
    expect(await read()).toEqual([expect.stringContaining('upload-pack')])
    expect(await read()).toEqual([])
  })

  test('a file that the host does not give: the first line of the error has the host and what to do', async () => {
    const name = await aRepository({ [file]: 'x'.repeat(5_000) })
    const { repository } = await open(name)
    const tip = await repository.readTip('known')
    await host.stopListening()
    onTestFinished(async () => void (await host.listenAgain()))
    await expect(repository.readFiles(tip, [file])).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/^127\.0\.0\.1 cannot be reached: check the host and the network\n/),
    })
  })

  test('a file above 256 KiB is blocked', async () => {
    const name = await aRepository({ [file]: 'x'.repeat(1024 * 1024 + 1) })
    const { repository } = await open(name)
    const read = await repository.readFiles(await repository.readTip('known'), [file])
    expect(read.get(file)).toEqual({ kind: 'blocked', reason: expect.stringContaining('256 KiB') })
  })

  test('asks the host for the name of the default branch, without a cache', async () => {
    const name = await aRepository()
    const { repository, access } = await open(name, {}, 'HEAD')
    expect(await repository.readDefaultBranch(60_000)).toBe('main')
    await host.git(name, 'branch', '-m', 'main', 'trunk')
    expect(await repository.readDefaultBranch(60_000)).toBe('main')
    expect(await repository.readDefaultBranch(0)).toBe('trunk')
    for (const { branch, says } of [
      { branch: 'none', says: 'no default branch' },
      { branch: '--upload-pack=x', says: 'not allowed: --upload-pack=x' },
    ]) {
      await host.git(name, 'symbolic-ref', 'HEAD', `refs/heads/${branch}`)
      await expect(repository.readDefaultBranch(0)).rejects.toMatchObject({
        code: 'branch_missing',
        message: expect.stringContaining(says),
      })
      await host.git(name, 'update-ref', 'refs/heads/--upload-pack=x', 'trunk')
    }
    expect((await readdir(access.folder)).filter((folder) => /^[0-9a-f]{16}$/.test(folder))).toEqual([])
  })
})

describe('a branch with what git only dislikes is written to', () => {
  test('a commit with an impossible time zone at its tip', async () => {
    const name = await aRepository()
    const [tip, tree] = (await host.git(name, 'rev-parse', 'main', 'main^{tree}')).split('\n')
    const who = 'Old Import <old@example> 1234567890 +051800'
    const text = `tree ${tree}\nparent ${tip}\nauthor ${who}\ncommitter ${who}\n\nodd\n`
    await host.git(name, 'update-ref', 'refs/heads/main', await host.storeObject(name, 'commit', Buffer.from(text)))
    const { repository } = await open(name)
    expect(await pushOne(repository, 'x')).toMatchObject({ kind: 'pushed' })
    expect(await host.git(name, 'log', '--format=%s', 'main')).toBe('set x\nodd\nfirst')
  })

  test('zero-padded modes in its trees', async () => {
    const name = await aRepository({ 'a/README.md': 'hello\n' })
    const subtree = await host.git(name, 'rev-parse', 'main:a')
    const entry = (folder: string) => Buffer.concat([Buffer.from(`040000 ${folder}\0`), Buffer.from(subtree, 'hex')])
    const tree = await host.storeObject(name, 'tree', Buffer.concat([entry('a'), entry('apps')]))
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.test']
    const commit = await host.git(name, ...author, 'commit-tree', '-p', 'main', '-m', 'padded', tree)
    await host.git(name, 'update-ref', 'refs/heads/main', commit)
    const { repository } = await open(name)
    expect(await pushOne(repository, 'x')).toMatchObject({ kind: 'pushed' })
    expect(await host.git(name, 'diff', '--name-only', commit, 'main')).toBe(file)
  })
})

describe('an override file or directory that is a symlink or submodule fails, and nothing outside is written (T15; B68, B72)', () => {
  test.for([
    { mode: '120000', at: 'apps/shop', says: 'a symbolic link' },
    { mode: '160000', at: 'apps/shop', says: 'a submodule' },
    { mode: '100644', at: 'apps', says: 'a file' },
    { mode: '120000', at: file, says: 'a symbolic link' },
    { mode: '040000', at: file, says: 'a directory' },
  ])('$says at $at', async ({ mode, at, says }) => {
    const name = await aRepository({ 'README.md': 'x' })
    const blob = await host.git(name, 'rev-parse', 'main:README.md')
    const parts = at.split('/')
    const target =
      mode === '160000'
        ? await host.git(name, 'rev-parse', 'main')
        : mode === '040000'
          ? await host.git(name, 'rev-parse', 'main^{tree}')
          : blob
    let entry = { mode, oid: target, name: parts.pop() ?? '' }
    const makeTree = async () => {
      const stream = `${entry.mode} ${entry.mode === '040000' ? 'tree' : entry.mode === '160000' ? 'commit' : 'blob'} ${entry.oid}\t${entry.name}`
      return host.makeTree(name, stream)
    }
    for (const part of parts.reverse()) entry = { mode: '040000', oid: await makeTree(), name: part }
    const commit = await host.git(name, 'commit-tree', '-p', 'main', '-m', 'trap', await makeTree())
    await host.git(name, 'update-ref', 'refs/heads/main', commit)

    const { repository } = await open(name)
    const read = await repository.readFiles(await repository.readTip('known'), [file])
    expect(read.get(file)).toEqual({ kind: 'blocked', reason: expect.stringContaining(says) })
  })
})

describe('a directory with too many entries is not read', () => {
  const entries = (count: number, blob: string) =>
    Array.from({ length: count }, (_, at) => `100644 blob ${blob}\tf${`${at}`.padStart(6, '0')}`).join('\n')
  /** 35 bytes each. */
  const most = Math.floor((4 * 1024 * 1024) / 35)

  async function aLargeRepository(count: number, parts: readonly string[]): Promise<string> {
    const name = await aRepository({ 'README.md': 'x' })
    let tree = await host.makeTree(name, entries(count, await host.git(name, 'rev-parse', 'main:README.md')))
    for (const part of parts.toReversed()) tree = await host.makeTree(name, `040000 tree ${tree}\t${part}`)
    await host.git(name, 'update-ref', 'refs/heads/main', await host.git(name, 'commit-tree', '-m', 'large', tree))
    return name
  }

  test.for([
    { parts: ['apps', 'shop'], directory: 'apps/shop' },
    { parts: [], directory: 'root' },
  ])('the $directory directory above 4 MiB', async ({ parts, directory }) => {
    const { repository } = await open(await aLargeRepository(most + 1, parts))
    const read = await repository.readFiles(await repository.readTip('known'), [file, 'README.md'])
    const reason = `the ${directory} directory has more entries than can be edited (4 MiB)`
    expect(read.get(file)).toEqual({ kind: 'blocked', reason })
    expect(read.get('README.md')?.kind).toBe(parts.length === 0 ? 'blocked' : 'absent')
  })

  test('one of 4 MiB is', async () => {
    const { repository } = await open(await aLargeRepository(most, ['apps', 'shop']))
    expect(await pushOne(repository, 'x')).toMatchObject({ kind: 'pushed' })
  })
})

describe('a push that does not land', () => {
  test('a rival was first: lost race; the next look at the tip sees his commit', async () => {
    const name = await aRepository()
    const { repository } = await open(name)
    const tip = await repository.readTip('known')
    const rival = await host.commitFiles(name, { 'other.txt': 'x' })
    expect(await repository.push(tip, [aCommit('x')], always)).toMatchObject({ kind: 'lost_race' })
    expect(await repository.readTip('known')).toEqual({ commit: rival, isFresh: true })
    expect(await pushOne(repository, 'x')).toMatchObject({ kind: 'pushed' })
    expect(await host.git(name, 'log', '--format=%s', 'main')).toBe('set x\nrival\nfirst')
  })

  test('withdrawn at the last moment: nothing is sent', async () => {
    const name = await aRepository()
    const { repository } = await open(name)
    const tip = await repository.readTip('known')
    expect(await repository.push(tip, [aCommit('x')], async () => false)).toEqual({ kind: 'withdrawn' })
    expect(await host.git(name, 'rev-parse', 'main')).toBe(tip.commit)
    expect(host.commands().some((command) => command.includes('receive-pack') && command.includes(name))).toBe(false)
  })

  test("a hook says no: refused with the hook's words, without secrets", async () => {
    const name = await aRepository()
    const hook = path.join(host.directory(name), 'hooks', 'pre-receive')
    await writeFile(hook, '#!/bin/sh\necho "freeze until Monday, token ghp_0123456789abcdef"\nexit 1\n')
    await chmod(hook, 0o755)
    const { repository } = await open(name)
    const outcome = await pushOne(repository, 'x')
    expect(outcome).toMatchObject({ kind: 'refused', reason: expect.stringContaining('freeze until Monday') })
    expect(JSON.stringify(outcome)).not.toContain('ghp_')
  })

  test('a push that hangs ends after GIT_OP_TIMEOUT with all its processes (F26); the outcome is unknown', async () => {
    const name = await aRepository()
    const hook = path.join(host.directory(name), 'hooks', 'pre-receive')
    await writeFile(hook, '#!/bin/sh\nexec sleep 90\n')
    await chmod(hook, 0o755)
    const { repository, access } = await open(name, { gitOpTimeoutMs: 10_000 }) // enough for the fetch before it
    expect(await pushOne(repository, 'x')).toMatchObject({ kind: 'unknown' })
    await eventually(async () => {
      const left = (await runningCommands()).filter((line) => /\bssh /.test(line) && line.includes(access.folder))
      expect(left).toEqual([])
    })
    await host.stopListening()
    await host.listenAgain()
  })
})

test('no command goes on past the end of the work that it is for', async () => {
  const programs = await mkdtemp(path.join(tmpdir(), 'hanging-git-'))
  onTestFinished(() => rm(programs, { recursive: true }))
  const real = process.env.PATH ?? ''
  const script = `#!/bin/sh\n[ "$1" = fast-import ] && exec sleep 90\nPATH='${real}' exec git "$@"\n`
  await writeFile(path.join(programs, 'git'), script, { mode: 0o755 })
  const { repository } = await open(await aRepository(), {}, 'main', `${programs}:${real}`)
  const tip = await repository.readTip('known')
  repository.endCommandsAt(Date.now() + 500)
  const beganMs = performance.now()
  await expect(repository.push(tip, [aCommit('x')], always)).rejects.toMatchObject({ code: 'timed_out' })
  expect(performance.now() - beganMs).toBeLessThan(10_000) // GIT_OP_TIMEOUT is six times that
})

describe('a push takes the tip it was built on and nothing else (product: write-back)', () => {
  const rename = (name: string, to: string) => host.git(name, 'branch', '-m', 'main', to)

  test.for([
    { what: 'as it comes', forbidsForce: 'false' },
    { what: 'where the host forbids anything else', forbidsForce: 'true' },
  ])('is a plain fast-forward in the words of git, $what', async ({ forbidsForce }) => {
    const name = await aRepository()
    await host.git(name, 'config', 'receive.denyNonFastForwards', forbidsForce)
    const { access, settings } = await openAccess()
    const said: string[] = []
    const listening: GitAccess = {
      ...access,
      async ask(...args) {
        const answer = await access.ask(...args)
        said.push(answer.stdout.toString())
        return answer
      },
    }
    const repository = openGitRepository(host.url(name), createRepositoryCache(name, 'main', access), {
      access: listening,
      author: settings.commitAuthor,
      gitOpTimeoutMs: settings.gitOpTimeoutMs,
      nowMs: Date.now,
    })
    onTestFinished(() => repository.closeReader())
    await pushOne(repository, 'one')
    await pushOne(repository, 'two')
    const [before, after] = await Promise.all(['main~1', 'main'].map((commit) => host.git(name, 'rev-parse', commit)))
    expect(said.at(-1)?.split('\n')[1]).toBe(` \t${after}:refs/heads/main\t${before}..${after}`)
  })

  test('set back to drop a commit of ours: a lost race, and what was dropped stays dropped', async () => {
    const name = await aRepository()
    const { repository } = await open(name)
    await pushOne(repository, 'dropped')
    await host.git(name, 'update-ref', 'refs/heads/main', 'main~1')
    expect(await pushOne(repository, 'x')).toMatchObject({ kind: 'lost_race' })
    expect(await pushOne(repository, 'x')).toMatchObject({ kind: 'pushed' })
    expect(await host.git(name, 'log', '--format=%s', 'main')).toBe('set x\nfirst')
  })

  test('renamed, with its commits on another branch: no ref is made', async () => {
    const name = await aRepository()
    const { repository } = await open(name)
    await pushOne(repository, 'one')
    await rename(name, 'trunk')
    expect(await pushOne(repository, 'x')).toMatchObject({ kind: 'lost_race' })
    await expect(repository.readTip('known')).rejects.toMatchObject({ code: 'branch_missing', retry: 'never' })
    expect(await host.git(name, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/trunk')
  })
})

describe('a kept SSH connection on which nothing comes back any more', () => {
  const large = `# ${'x'.repeat(5_000)}\n`
  async function openThroughProxy(gitOpTimeoutMs: number) {
    const name = await aRepository({ [file]: large })
    const proxy = await startFaultProxy({ port: host.port })
    onTestFinished(() => proxy[Symbol.asyncDispose]())
    const { knownHostsPath, url } = await host.through(proxy.port)
    const { repository } = await openAt(url(name), { knownHostsPath, gitOpTimeoutMs })
    return { proxy, repository, tip: await repository.readTip('known') }
  }

  test('is given up before the limit of a command, which goes on over a fresh one', async () => {
    const { proxy, repository, tip } = await openThroughProxy(14_000)
    proxy.strand()
    expect(await repository.readTip('fresh')).toEqual(tip)
  })

  test.for([
    { what: 'a fetch', use: (repository: GitRepository) => repository.readTip('fresh') },
    { what: 'reading a large file', use: (repository: GitRepository, tip: Tip) => repository.readFiles(tip, [file]) },
  ])('is not met again after $what that took too long', async ({ use }) => {
    const { proxy, repository, tip } = await openThroughProxy(6_000)
    proxy.strand()
    await expect(use(repository, tip)).rejects.toMatchObject({ code: 'timed_out' })
    expect((await repository.readFiles(await repository.readTip('fresh'), [file])).get(file)).toMatchObject({
      content: Buffer.from(large),
    })
  })
})

describe('failures that will not pass by themselves', () => {
  test('T17 another host key', async () => {
    const name = await aRepository()
    const other = path.join(host.folder, 'other_hosts')
    await writeFile(other, `[127.0.0.1]:${host.port} ${ssh2.utils.generateKeyPairSync('ed25519').public}\n`)
    const { repository } = await open(name, { knownHostsPath: other })
    await expect(repository.readTip('known')).rejects.toMatchObject({
      code: 'host_key',
      retry: 'never',
      message: expect.stringMatching(/host key of 127\.0\.0\.1 has changed/),
    })
    expect(host.commands().filter((command) => command.endsWith(name))).toEqual([])
  })

  test('a host that SSH_KNOWN_HOSTS lacks fails the task (B56)', async () => {
    const empty = path.join(host.folder, 'no_hosts')
    await writeFile(empty, '')
    const { repository } = await open(await aRepository(), { knownHostsPath: empty })
    await expect(repository.readTip('known')).rejects.toMatchObject({
      code: 'host_key',
      message: expect.stringContaining('host key unknown for 127.0.0.1'),
    })
  })

  test('a key that the host does not know', async () => {
    const key = path.join(host.folder, 'stranger')
    await writeFile(key, ssh2.utils.generateKeyPairSync('ed25519').private)
    const { repository } = await open(await aRepository(), { sshKeyPath: key })
    await expect(repository.readTip('known')).rejects.toMatchObject({ code: 'access_denied', retry: 'never' })
  })

  test('no such branch, no such repository', async () => {
    const { repository } = await open(await aRepository(), {}, 'v1.2.3')
    await expect(repository.readTip('known')).rejects.toMatchObject({ code: 'branch_missing', retry: 'never' })
    const { repository: none } = await open('none.git')
    await expect(none.readTip('known')).rejects.toMatchObject({ code: 'repository_missing', retry: 'never' })
  })

  test('nobody listens: it will be tried again', async () => {
    const { access, settings } = await openAccess()
    const { commitAuthor: author, gitOpTimeoutMs } = settings
    const repository = openGitRepository('ssh://git@127.0.0.1:1/x.git', createRepositoryCache('x', 'main', access), {
      access,
      author,
      gitOpTimeoutMs,
      nowMs: Date.now,
    })
    await expect(repository.readTip('known')).rejects.toMatchObject({ code: 'unreachable', retry: 'soon' })
  })
})

describe('the SSH key', () => {
  test.for([
    { what: 'with CRLF line ends', change: (key: string) => key.replaceAll('\n', '\r\n') },
    { what: 'without a last line end', change: (key: string) => key.trimEnd() },
  ])('$what works', async ({ change }) => {
    const key = path.join(host.folder, `key-${made}`)
    await writeFile(key, change(await readFile(host.keyPath, 'utf8')), { mode: 0o644 })
    const { repository, access } = await open(await aRepository(), { sshKeyPath: key })
    expect(await access.checkKeys()).toEqual([])
    expect(await repository.readTip('known')).toMatchObject({ isFresh: true })
  })

  test('with a passphrase works, and a wrong one is named before anything is tried', async () => {
    const key = path.join(host.folder, 'locked')
    await copyFile(host.keyPath, key)
    await promisify(execFile)('ssh-keygen', ['-q', '-p', '-N', 'open sesame', '-f', key])
    const right = await open(await aRepository(), { sshKeyPath: key, sshKeyPass: () => 'open sesame' })
    expect(await right.access.checkKeys()).toEqual([])
    expect(await right.repository.readTip('known')).toMatchObject({ isFresh: true })
    const { access: wrong } = await openAccess({ sshKeyPath: key, sshKeyPass: () => 'open barley' })
    expect(await wrong.checkKeys()).toEqual([expect.stringMatching(/SSH_KEY_PASS/)])
    const { access: none } = await openAccess({ sshKeyPath: key })
    expect(await none.checkKeys()).toEqual([expect.stringMatching(/SSH_KEY_PASS is not set/)])
  })

  test('with a passphrase that is changed while files are read works', async () => {
    const key = path.join(host.folder, 'rotated')
    await copyFile(host.keyPath, key)
    let passphrase = ''
    const rotate = async (next: string) => {
      await promisify(execFile)('ssh-keygen', ['-q', '-p', '-P', passphrase, '-N', next, '-f', key])
      passphrase = next
    }
    const reconnect = async () => {
      await host.stopListening()
      await host.listenAgain()
    }
    await rotate('the first')
    const name = await aRepository({ [file]: 'small\n', large: 'x'.repeat(5_000) })
    const { repository } = await open(name, { sshKeyPath: key, sshKeyPass: () => passphrase })
    await repository.readFiles(await repository.readTip('known'), [file])
    await rotate('the second')
    await reconnect()
    const tip = await repository.readTip('fresh')
    await reconnect()
    expect((await repository.readFiles(tip, ['large'])).get('large')).toMatchObject({ kind: 'file' })
  })

  test('its passphrase is told by a program that nobody finds half written', async () => {
    const { access } = await openAccess({ sshKeyPass: () => 'open sesame' })
    const address = parseRepositoryAddress(host.url('x.git'))
    const { SSH_ASKPASS: program = '' } = await access.environment('/x', address)
    await writeFile(program, 'of an earlier version')
    await using opened = await openFile(program)
    await access.environment('/x', address)
    expect(await opened.readFile('utf8')).toBe('of an earlier version')
    expect(await readFile(program, 'utf8')).toContain('WATCHER_SSH_PASSPHRASE')
  })

  test.for([
    { what: 'a missing file', content: undefined, says: /cannot be read/ },
    { what: 'a public key', content: 'ssh-ed25519 AAAA comment\n', says: /not hold a private key/ },
    {
      what: 'rubbish in armour',
      content: '-----BEGIN OPENSSH PRIVATE KEY-----\nx\n-----END OPENSSH PRIVATE KEY-----\n',
      says: /cannot be read/,
    },
  ])('$what is named', async ({ content, says }) => {
    const key = path.join(host.folder, 'bad')
    await rm(key, { force: true })
    if (content !== undefined) await writeFile(key, content)
    const { access } = await openAccess({ sshKeyPath: key })
    expect(await access.checkKeys()).toEqual([expect.stringMatching(says)])
  })
})

describe('an https repository (GIT_CREDENTIALS)', () => {
  test('gets user and token from the environment alone, by a constant helper', async () => {
    const login = { user: 'bot', password: 'not-on-any-command-line' }
    const { access } = await openAccess({ gitCredentials: () => new Map([['git.example', login]]) })
    const address = parseRepositoryAddress('https://git.example/team/deploy.git')
    const filled = await access.git('/nonexistent', address, ['credential', 'fill'], {
      input: 'protocol=https\nhost=git.example\n\n',
    })
    expect(filled.toString()).toContain('username=bot\npassword=not-on-any-command-line')
    const { GIT_ALLOW_PROTOCOL, ...environment } = await access.environment('/nonexistent', address)
    expect(GIT_ALLOW_PROTOCOL).toBe('https')
    const holders = Object.keys(environment).filter((name) => environment[name]?.includes(login.password))
    expect(holders).toEqual(['WATCHER_GIT_PASSWORD'])
    expect(access.redact(`fatal: ${login.password}`)).not.toContain(login.password)
  })

  test('without an entry for the host nothing is tried over https, but SSH is', async () => {
    const { access } = await openAccess({ knownHosts: () => 'git.example ssh-ed25519 AAAA' })
    expect(access.addressOf('https://git.example/team/deploy.git').text).toBe('git@git.example:team/deploy.git')
    expect(() => access.addressOf('/team/deploy.git')).toThrow('repository address not allowed')
    const address = parseRepositoryAddress('https://git.example/team/deploy.git')
    await expect(access.git('/nonexistent', address, ['ls-remote'])).rejects.toMatchObject({ code: 'access_denied' })
  })
})

test('nothing of our own environment reaches git', async () => {
  process.env.GIT_ALLOW_PROTOCOL = 'ext'
  process.env.GIT_SSH_COMMAND = 'touch /tmp/never'
  onTestFinished(() => {
    delete process.env.GIT_ALLOW_PROTOCOL
    delete process.env.GIT_SSH_COMMAND
  })
  const { access } = await openAccess()
  const ssh = parseRepositoryAddress(host.url('x.git'))
  expect(Object.keys(await access.environment('/x', ssh)).sort()).toEqual([
    'GIT_ALLOW_PROTOCOL',
    'GIT_CONFIG_COUNT',
    'GIT_CONFIG_GLOBAL',
    'GIT_CONFIG_KEY_0',
    'GIT_CONFIG_NOSYSTEM',
    'GIT_CONFIG_VALUE_0',
    'GIT_DIR',
    'GIT_LITERAL_PATHSPECS',
    'GIT_SSH_COMMAND',
    'GIT_SSH_VARIANT',
    'GIT_TERMINAL_PROMPT',
    'HOME',
    'LC_ALL',
    'PATH',
  ])
  const local = await access.environment('/x', undefined)
  expect(local).toMatchObject({ GIT_ALLOW_PROTOCOL: 'none' })
  expect(local).not.toHaveProperty('GIT_SSH_COMMAND')
})

test('a cache folder that somebody deleted does not keep the process from ending', async () => {
  const { access, settings } = await openAccess()
  await rm(settings.repoCachePath, { recursive: true })
  await access[Symbol.asyncDispose]()
})

describe('a damaged or full cache is rebuilt once, or ends the task with the cause (F28): a damaged cache', () => {
  async function cacheOf(access: { folder: string }) {
    const names = await readdir(access.folder)
    return path.join(access.folder, names.find((name) => /^[0-9a-f]{16}$/.test(name)) ?? '')
  }

  test.for([
    { what: 'without HEAD', damage: (cache: string) => rm(path.join(cache, 'HEAD')) },
    { what: 'without packs', damage: (cache: string) => rm(path.join(cache, 'objects'), { recursive: true }) },
    { what: 'with a stale lock', damage: (cache: string) => writeFile(path.join(cache, 'shallow.lock'), '') },
  ])('$what: thrown away, it works again', async ({ damage }) => {
    const name = await aRepository()
    const { repository, access } = await open(name)
    await repository.readTip('known')
    repository.closeReader()
    await damage(await cacheOf(access))
    await host.commitFiles(name, { 'other.txt': 'x' })
    await expect(repository.readTip('fresh').then((tip) => repository.readFiles(tip, [file]))).rejects.toMatchObject({
      name: 'GitError',
    })
    await repository.discardCache()
    expect(await pushOne(repository, 'again')).toMatchObject({ kind: 'pushed' })
  })
})
