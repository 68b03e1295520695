import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { type HostKeys, writeKnownHosts } from './host-keys.ts'
import { gitEnvironment, runGit } from './run-git.ts'

export type GitHostFault =
  /** Commands are accepted and never answered. */
  | { kind: 'hang' }
  /** Pushes are declined by a hook with this message. */
  | { kind: 'reject'; message: string }
  /** Commands (those of one service, if named) end at once with these words, as a host answers without access. */
  | { kind: 'turn-away'; message: string; service?: GitCommand['service'] }
  /** The connection breaks after the service's first answer. */
  | { kind: 'close' }
  /** Every key is turned away. */
  | { kind: 'refuse-key' }
  /** Every command waits this long first. */
  | { kind: 'delay'; ms: number }

export type GitCommand = {
  service: 'git-receive-pack' | 'git-upload-pack'
  repository: string
  exitCode: number | undefined
}

export type SshGitHost = Awaited<ReturnType<typeof startSshGitHost>>

/** A Git host on a loopback port: stock git services behind SSH with public keys, on bare repositories in one folder. */
export async function startSshGitHost(options: { folder: string; keys: HostKeys; port?: number }) {
  const { folder, keys } = options
  await runGit('/', ['--version'])
  const clientKey = parsedKey(keys.clientPublicKey)
  const connections = new Set<ssh2.Connection>()
  const children = new Set<ChildProcess>()
  const commands: GitCommand[] = []
  const pushListeners = new Set<(repository: string) => void>()
  let fault: { action: GitHostFault; left: number } | undefined
  let isListening = false

  const server = new ssh2.Server({ hostKeys: [keys.hostKey] }, (connection) => {
    connections.add(connection)
    answerAtOnce(connection)
    connection.on('close', () => connections.delete(connection))
    connection.on('error', () => connections.delete(connection)) // a client that went away is its own affair
    connection.on('authentication', authenticate)
    connection.on('ready', () => connection.on('session', (accept) => serveSession(accept(), connection)))
    if (!isListening) connection.end() // it is told of when the client has said its name, which may be later
  })

  function authenticate(context: ssh2.AuthContext): void {
    if (fault?.action.kind === 'refuse-key' || context.method !== 'publickey') {
      context.reject(['publickey'])
      return
    }
    const isKnown = context.key.data.equals(clientKey.getPublicSSH())
    const isSigned =
      !context.signature ||
      !context.blob ||
      clientKey.verify(context.blob, context.signature, context.hashAlgo) === true
    if (isKnown && isSigned) context.accept()
    else context.reject(['publickey'])
  }

  function serveSession(session: ssh2.Session, connection: ssh2.Connection): void {
    const environment: Record<string, string> = {}
    session.on('env', (accept, _reject, { key, val }) => {
      if (key === 'GIT_PROTOCOL') environment[key] = val
      accept?.()
    })
    session.on('exec', (accept, reject, { command }) => {
      const [, service, path] = /^(git-(?:receive|upload)-pack) '?\/?([^']+?)'?$/.exec(command) ?? []
      if ((service !== 'git-receive-pack' && service !== 'git-upload-pack') || !path) return reject?.()
      const entry: GitCommand = { service, repository: path, exitCode: undefined }
      commands.push(entry)
      void serve(entry, accept(), connection, environment)
    })
  }

  async function serve(
    entry: GitCommand,
    channel: ssh2.ServerChannel,
    connection: ssh2.Connection,
    environment: Record<string, string>,
  ): Promise<void> {
    const action = takeFault(entry)
    if (action?.kind === 'hang') return
    if (action?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, action.ms))
    if (action?.kind === 'turn-away') {
      channel.stderr.write(`${action.message}\n`)
      return finish(entry, channel, 128)
    }
    const repository = join(folder, entry.repository)
    if (entry.repository.includes('..') || !existsSync(join(repository, 'HEAD'))) {
      channel.stderr.write(`fatal: '${entry.repository}' does not appear to be a git repository\n`)
      return finish(entry, channel, 128)
    }
    const hooks =
      action?.kind === 'reject' ? ['-c', `core.hooksPath=${join(import.meta.dirname, 'rejecting-hooks')}`] : []
    const extra = action?.kind === 'reject' ? { SIMULATOR_REJECTION: action.message } : {}
    const child = spawn('git', [...hooks, entry.service.slice('git-'.length), repository], {
      env: gitEnvironment({ ...environment, ...extra }),
    })
    children.add(child)
    channel.pipe(child.stdin)
    child.stdin.on('error', () => {}) // the client may send more than git wants to read
    child.stdout.pipe(channel, { end: false })
    child.stderr.pipe(channel.stderr, { end: false })
    if (action?.kind === 'close') child.stdout.once('data', () => connection.end())
    channel.on('close', () => child.kill())
    child.on('close', (code) => {
      children.delete(child)
      finish(entry, channel, code ?? 1)
    })
  }

  function takeFault(entry: GitCommand): GitHostFault | undefined {
    if (!fault) return undefined
    const { action } = fault
    const service = action.kind === 'reject' ? 'git-receive-pack' : 'service' in action ? action.service : undefined
    if (action.kind === 'refuse-key' || (service !== undefined && service !== entry.service)) return undefined
    fault.left--
    if (fault.left <= 0) fault = undefined
    return action
  }

  function finish(entry: GitCommand, channel: ssh2.ServerChannel, code: number): void {
    entry.exitCode = code
    channel.exit(code)
    channel.end()
    if (entry.service === 'git-receive-pack' && code === 0)
      for (const listener of pushListeners) listener(entry.repository)
  }

  async function listen(port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve())
    })
    isListening = true
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : port
  }

  async function stopListening(): Promise<void> {
    isListening = false
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    for (const connection of connections) connection.end()
    await closed
  }

  const port = await listen(options.port ?? 0)
  writeKnownHosts(keys.knownHostsPath, keys.hostKey, port)

  return {
    port,
    commands: (): readonly GitCommand[] => commands,
    onPush(listener: (repository: string) => void): () => void {
      pushListeners.add(listener)
      return () => pushListeners.delete(listener)
    },
    /** The next `times` commands (all, if absent) are hit; `undefined` ends the fault. */
    setFault(action: GitHostFault | undefined, times = Number.POSITIVE_INFINITY): void {
      fault = action && { action, left: times }
    },
    /** Refuses new connections and ends the open ones. */
    stopListening,
    listenAgain: () => listen(port), // the same port: clients keep their address
    async close(): Promise<void> {
      for (const child of children) child.kill()
      await stopListening()
    },
  }
}

/** Without this each answer waits up to 40 ms for a delayed acknowledgement. The method is missing in the library's types. */
function answerAtOnce(connection: ssh2.Connection & { setNoDelay?: (isOn: boolean) => void }): void {
  connection.setNoDelay?.(true)
}

function parsedKey(text: string): ssh2.ParsedKey {
  const key = ssh2.utils.parseKey(text)
  if (key instanceof Error) throw new Error('The client key cannot be read', { cause: key })
  return key
}
