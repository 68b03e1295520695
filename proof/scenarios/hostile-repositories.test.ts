import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isFinal } from '../../contract/task-status.ts'
import { runGit } from '../../simulator/git-host/run-git.ts'
import { chartFiles } from '../../simulator/model/example-repository.ts'
import { withoutLimits } from '../../test/support/service.ts'
import { createManaged, startWorld, type World } from '../../test/support/world.ts'

const folder = await mkdtemp(path.join(tmpdir(), 'hostile-repositories-'))
const markers = path.join(folder, 'markers')
await mkdir(markers)
const touch = (name: string) => `touch ${path.join(markers, name)}`

let connections = 0
const unlisted = net.createServer((socket) => {
  connections += 1
  socket.destroy()
})
await new Promise<void>((resolve) => unlisted.listen(0, '127.0.0.1', resolve))
const { port: unlistedPort } = unlisted.address() as AddressInfo // it listens on TCP

let world: World
const knownHosts = path.join(folder, 'known_hosts')
/** As a mounted file changes: the new one takes its place. */
async function mountKnownHosts(text: string): Promise<void> {
  await writeFile(`${knownHosts}.new`, text)
  await rename(`${knownHosts}.new`, knownHosts)
}
const rightKey = () => readFile(world.simulator.git.knownHostsPath, 'utf8')
const wrongKey = () =>
  `[127.0.0.1]:${world.simulator.git.host.port} ${ssh2.utils.generateKeyPairSync('ed25519').public}\n`

beforeAll(async () => {
  await mountKnownHosts('')
  world = await startWorld({
    applications: ['shop', 'cart'],
    settings: {
      ...withoutLimits,
      SSH_KNOWN_HOSTS: knownHosts,
      WRITE_BACK_ALLOWED_REPOS: '127.0.0.1/gitops,127.0.0.1/hostile',
      GIT_CREDENTIALS: `localhost:${unlistedPort}=bot:harvested,127.1:${unlistedPort}=bot:harvested`,
    },
  })
  await mountKnownHosts(await rightKey())
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await new Promise((resolve) => unlisted.close(resolve))
  await rm(folder, { recursive: true })
})

const untilWritten = (id: string) =>
  world.service.waitForTask(id, ({ status, commit }) => commit !== undefined || isFinal(status))

test('a changed host key fails the task, and a rotated SSH_KNOWN_HOSTS applies without a restart (T17)', async () => {
  const { host } = world.simulator.git
  for (const [text, says] of [
    ['', 'host key unknown for 127.0.0.1'],
    [wrongKey(), 'the host key of 127.0.0.1 has changed'],
  ] as const) {
    await mountKnownHosts(text)
    const task = await world.service.waitForEnd(await world.deploy('shop', 'v2'))
    expect(task).toMatchObject({ status: 'failed', status_reason: expect.stringContaining(says) })
    expect(task.commit).toBeUndefined()
  }
  expect(host.commands()).toEqual([])

  await mountKnownHosts(await rightKey()) // without a restart
  expect(await untilWritten(await world.deploy('shop', 'v3'))).toMatchObject({ commit: expect.any(String) })

  await host.stopListening() // a new connection is checked again
  await host.listenAgain()
  const pushes = host.commands().length
  await mountKnownHosts(wrongKey())
  const last = await world.service.waitForEnd(await world.deploy('shop', 'v4'))
  expect(last).toMatchObject({ status: 'failed', status_reason: expect.stringContaining('has changed') })
  expect(host.commands()).toHaveLength(pushes)
  await mountKnownHosts(await rightKey())
})

/** Files that do harm where a repository is checked out, or taken for a repository itself. */
const hostileFiles: Readonly<Record<string, string>> = {
  '.gitattributes': '* filter=evil diff=evil merge=evil text eol=crlf ident working-tree-encoding=UTF-16\n',
  '.gitmodules': [
    `[submodule "a"]\n\tpath = sub\n\turl = ext::sh -c ${touch('url')}\n\tupdate = !${touch('update')}`,
    '[submodule "../../modules/x"]\n\tpath = x\n\turl = -u./payload\n',
  ].join('\n'),
  '.lfsconfig': `[lfs]\n\turl = http://localhost:${unlistedPort}/lfs\n[lfs "customtransfer.x"]\n\tpath = ${touch('lfs')}\n`,
  'large.bin': `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12345\n`,
  '.gitconfig': `[core]\n\tsshCommand = ${touch('gitconfig')}\n`,
  HEAD: 'ref: refs/heads/main\n',
  config: `[core]\n\tbare = true\n\tfsmonitor = ${touch('fsmonitor')}\n\thooksPath = hooks\n`,
  'objects/keep': '',
  'refs/heads/keep': '',
  '.git/config': `[core]\n\tsshCommand = ${touch('ssh')}\n\tfsmonitor = ${touch('monitor')}\n[filter "evil"]\n\tsmudge = ${touch('smudge')}\n\tclean = ${touch('clean')}\n\tprocess = ${touch('process')}\n`,
}
const hooks = ['pre-push', 'post-checkout', 'post-merge', 'reference-transaction', 'post-index-change', 'pre-receive']

async function makeHostileRepository(): Promise<string> {
  await world.simulator.git.createRepository('hostile', chartFiles('apps/hostile', { tag: 'v1' }))
  const directory = path.resolve(path.dirname(world.simulator.git.knownHostsPath), '../repositories/hostile.git')
  const git = (args: readonly string[], input = '') => runGit(directory, args, input)
  const start = (await git(['rev-parse', 'main'])).trim()
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const scripts = ['hooks', '.githooks', '.git/hooks'].flatMap((at) => hooks.map((hook) => `${at}/${hook}`))
  const stream = [
    `commit refs/heads/main\ncommitter a <a@example> 1234567890 +0000\n${data('hostile')}from ${start}\n`,
    ...Object.entries(hostileFiles).map(([name, text]) => `M 100644 inline ${name}\n${data(text)}`),
    ...scripts.map((name) => `M 100755 inline ${name}\n${data(`#!/bin/sh\n${touch(path.basename(name))}\n`)}`),
    `M 160000 ${start} sub\n`,
    `M 120000 inline link\n${data('/etc')}`,
  ]
  await git(['fast-import', '--quiet', '--force'], stream.join(''))
  // and an author that git fsck does not like
  const who = 'a <a@example> 1234567890 +051800'
  const tree = (await git(['rev-parse', 'main^{tree}'])).trim()
  const text = `tree ${tree}\nparent ${await git(['rev-parse', 'main'])}author ${who}\ncommitter ${who}\n\nodd\n`
  const odd = await git(['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], text)
  await git(['update-ref', 'refs/heads/main', odd.trim()])
  return directory
}

test('hooks, filters, submodules, LFS and configuration of a repository never run (T16)', async () => {
  const directory = await makeHostileRepository()
  await createManaged(world.simulator, 'hostile')
  await world.simulator.control.editApplication('hostile', (application) => ({
    ...application,
    spec: {
      ...application.spec,
      source: { repoURL: world.simulator.git.url('hostile'), path: 'apps/hostile', targetRevision: 'main' },
    },
  }))
  const before = connections
  for (const tag of ['v2', 'v3']) {
    const task = await untilWritten(await world.deploy('hostile', tag))
    expect(task).toMatchObject({ commit: expect.any(String) })
    const changed = await runGit(directory, ['diff', '--name-only', `${task.commit}~1`, `${task.commit}`])
    expect(changed.trim()).toBe('apps/hostile/.argocd-source-hostile.yaml')
  }
  expect((await runGit(directory, ['for-each-ref', '--format=%(refname)'])).trim()).toBe('refs/heads/main')
  const left = await readdir(markers)
  console.info(
    `a repository with ${Object.keys(hostileFiles).length} hostile files and ${3 * hooks.length} hooks: ` +
      `2 commits, ${left.length} marker files, ${connections - before} foreign connections`,
  )
  expect(left).toEqual([])
  expect(connections).toBe(before)
})

test('WRITE_BACK_ALLOWED_REPOS prevents every connection to a host that is not listed (T22)', async () => {
  const hosts = ['localhost', 'LocalHost', '127.1', '127.0.1', '2130706433', '0x7f000001', '127.000.000.001', '0x7f.1']
  const forms = [
    (host: string) => `ssh://git@${host}:${unlistedPort}/gitops.git`,
    (host: string) => `ssh://other@${host}:${unlistedPort}/gitops`,
    (host: string) => `https://${host}:${unlistedPort}/gitops.git`,
    (host: string) => `git@${host}:gitops.git`,
    () => `ssh://git@127.0.0.1:${unlistedPort}/another.git`,
  ]
  const addresses = hosts.flatMap((host, at) => forms.map((form, kind) => [`${at}-${kind}`, form(host)] as const))
  const { simulator } = world
  const tasks = await Promise.all(
    addresses.map(async ([name, repoURL], at) => {
      const app = `unlisted-${name}`
      const source = { repoURL, path: 'apps/shop', targetRevision: 'main' }
      await simulator.control.createApplication({
        name: app,
        sources: at % 2 === 0 ? [source] : [source, { ...source, path: 'apps/cart' }],
        annotations: {
          'watcher/managed': 'true',
          'watcher/managed-images': `main=registry.example/${app}`,
          'watcher/main.helm.image-tag': 'image.tag',
          'watcher/write-back-repo': repoURL,
          'watcher/write-back-branch': 'main',
          'watcher/write-back-path': 'apps/shop',
        },
      })
      return untilWritten(await world.deploy(app, 'v2'))
    }),
  )
  console.info(`${tasks.length} addresses that are not listed: ${connections} connections`)
  expect(tasks).toHaveLength(40)
  expect(tasks.filter(({ status_reason }) => !status_reason?.includes('is not in WRITE_BACK_ALLOWED_REPOS'))).toEqual(
    [],
  )
  expect(connections).toBe(0)
  expect(await untilWritten(await world.deploy('cart', 'v2'))).toMatchObject({ commit: expect.any(String) })
})

test('unexpected annotations fail only their own task (T20; the second part)', async () => {
  const { simulator, service } = world
  const odd = [
    '',
    '=',
    ',',
    'a/b=c',
    '__proto__=x',
    '{"a":',
    '\u0000',
    'x'.repeat(10_000),
    '"',
    "a='",
    '%',
    '[[',
    '$(id)',
  ]
  const poison = (name: string, value: string) =>
    ['managed-images', 'main.helm.image-tag', '.helm.image-tag', 'bad-pod-grace', 'write-back-repo', '__proto__'].map(
      (annotation) => [`watcher/${name}${annotation}`, value] as const,
    )
  for (const [at, value] of odd.entries()) {
    await createManaged(simulator, `poisoned-${at}`, Object.fromEntries([...poison('', value), ...poison('x', value)]))
    await createManaged(simulator, `watched-${at}`, {
      ...Object.fromEntries(poison('', value)),
      'watcher/managed': value,
    })
  }
  for (const tag of ['v11', 'v12', 'v13']) {
    const bad = odd.flatMap((_, at) => [`poisoned-${at}`, `watched-${at}`])
    const ids = await Promise.all(bad.map((app) => world.deploy(app, tag)))
    const good = await Promise.all([world.deploy('shop', tag), world.deploy('cart', tag)])
    await service.restart()
    for (const id of good) expect(await service.waitForEnd(id)).toMatchObject({ status: 'deployed' })
    for (const id of ids) expect((await service.getTask(id)).status).toMatch(/^(?:failed|in progress)$/)
  }
  expect(service.logs()).not.toMatch(/uncaught error/)
})
