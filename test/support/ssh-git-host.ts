import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import ssh2 from 'ssh2'

const run = promisify(execFile)
const environment = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Rival',
  GIT_AUTHOR_EMAIL: 'rival@example.test',
  GIT_COMMITTER_NAME: 'Rival',
  GIT_COMMITTER_EMAIL: 'rival@example.test',
}

/** Stock git behind a real SSH server on loopback, with repositories in a temporary folder. */
export async function startSshGitHost() {
  const folder = await mkdtemp(path.join(tmpdir(), 'ssh-git-host-'))
  const hostKey = ssh2.utils.generateKeyPairSync('ed25519')
  const clientKey = ssh2.utils.generateKeyPairSync('ed25519')
  const commands: string[] = []
  const allowed = [clientKey.public]
  const clients = new Set<ssh2.Connection>()
  const server = new ssh2.Server({ hostKeys: [hostKey.private] }, (client) => {
    clients.add(client)
    answerAtOnce(client)
    client.on('close', () => clients.delete(client))
    client.on('error', () => {})
    serve(client, allowed, folder, commands)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const keyPath = path.join(folder, 'id')
  const knownHostsPath = path.join(folder, 'known_hosts')
  await writeFile(keyPath, clientKey.private, { mode: 0o644 })
  await writeFile(knownHostsPath, `[127.0.0.1]:${port} ${hostKey.public}\n`)

  return {
    port,
    folder,
    keyPath,
    knownHostsPath,
    /** Every git command that a client ran. */
    commands,
    url: (name: string) => `ssh://git@127.0.0.1:${port}/${name}`,
    directory: (name: string) => path.join(folder, name),
    git: (name: string, ...args: string[]) => gitIn(path.join(folder, name), args),
    createRepository: (name: string, files: Record<string, string>) => createRepository(path.join(folder, name), files),
    commitFiles: (name: string, files: Record<string, string>, message = 'rival') =>
      commitFiles(path.join(folder, name), files, message),
    allowKey: (publicKey: string) => allowed.push(publicKey),
    /** A tree object from lines of `<mode> <type> <id>\t<name>`. */
    makeTree: (name: string, lines: string) =>
      gitWithInput(path.join(folder, name), ['mktree', '--missing'], `${lines}\n`),
    disconnectAll: () => {
      for (const client of clients) client.end()
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.end()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type SshGitHost = Awaited<ReturnType<typeof startSshGitHost>>

/** Without this each answer waits 40 ms for a delayed acknowledgement. The method is missing in the library's types. */
function answerAtOnce(client: ssh2.Connection & { setNoDelay?: (isOn: boolean) => void }): void {
  client.setNoDelay?.(true)
}

function serve(client: ssh2.Connection, allowed: readonly string[], folder: string, commands: string[]): void {
  client.on('authentication', (context) => {
    const isKnown = context.method === 'publickey' && allowed.some((key) => isSameKey(key, context.key.data))
    if (isKnown) context.accept()
    else context.reject(['publickey'])
  })
  client.on('session', (accept) => {
    const session = accept()
    let protocol = ''
    session.on('env', (acceptEnv, _, info) => {
      if (info.key === 'GIT_PROTOCOL') protocol = info.val
      acceptEnv?.()
    })
    session.on('exec', (acceptExec, _, { command }) => {
      commands.push(command)
      const channel = acceptExec()
      const [, service = '', name = ''] = /^git-(receive-pack|upload-pack) '\/?([\w./-]+)'$/.exec(command) ?? []
      const env = { ...environment, GIT_PROTOCOL: protocol }
      const child = spawn('git', [service, path.join(folder, name)], { env })
      channel.pipe(child.stdin).on('error', () => {})
      child.stdout.pipe(channel, { end: false })
      child.stderr.pipe(channel.stderr, { end: false })
      channel.on('error', () => {})
      child.on('close', (code) => {
        channel.exit(code ?? 1)
        channel.end()
      })
    })
  })
}

function isSameKey(publicKey: string, offered: Buffer): boolean {
  const key = ssh2.utils.parseKey(publicKey)
  return !(key instanceof Error) && offered.equals(key.getPublicSSH())
}

async function gitIn(directory: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', ['-C', directory, ...args], { env: environment, maxBuffer: 64 * 1024 * 1024 })
  return stdout.trimEnd()
}

async function gitWithInput(directory: string, args: readonly string[], input: string): Promise<string> {
  const child = spawn('git', ['-C', directory, ...args], { env: environment, stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(input)
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout) chunks.push(chunk)
  return Buffer.concat(chunks).toString().trim()
}

async function createRepository(directory: string, files: Record<string, string>): Promise<string> {
  await mkdir(directory, { recursive: true })
  await gitIn(directory, ['init', '-q', '--bare', '-b', 'main'])
  await gitIn(directory, ['config', 'uploadpack.allowFilter', 'true'])
  await gitIn(directory, ['config', 'uploadpack.allowAnySHA1InWant', 'true'])
  return commitFiles(directory, files, 'first')
}

/** Commits as somebody else would, straight on the branch `main`. */
async function commitFiles(directory: string, files: Record<string, string>, message: string): Promise<string> {
  const index = path.join(await mkdtemp(path.join(tmpdir(), 'rival-')), 'index')
  const env = { ...environment, GIT_INDEX_FILE: index }
  const git = async (...args: string[]) => (await run('git', ['-C', directory, ...args], { env })).stdout.trimEnd()
  const parent = await git('rev-parse', '-q', '--verify', 'refs/heads/main').catch(() => undefined)
  if (parent !== undefined) await git('read-tree', parent)
  for (const [file, content] of Object.entries(files)) {
    const blob = await gitWithInput(directory, ['hash-object', '-w', '--stdin'], content)
    await git('update-index', '--add', '--cacheinfo', `100644,${blob},${file}`)
  }
  const tree = await git('write-tree')
  const commit = await git('commit-tree', tree, ...(parent === undefined ? [] : ['-p', parent]), '-m', message)
  await git('update-ref', 'refs/heads/main', commit, ...(parent === undefined ? [] : [parent]))
  await rm(path.dirname(index), { recursive: true, force: true })
  return commit
}
