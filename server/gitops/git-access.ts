import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import { describeGitFailure, GitError, judgeGitFailure } from './git-error.ts'
import { redactGitText } from './redact-git-text.ts'
import type { RepositoryAddress } from './repository-address.ts'
import { type GitEnvironment, type GitResult, runGit } from './run-git.ts'
import type { WriteBackSettings } from './write-back-settings.ts'

export type GitAccess = {
  /** A folder of this process alone, for caches. */
  readonly folder: string
  /** The environment for a repository; without an address nothing can reach the network. */
  environment(directory: string, address: RepositoryAddress | undefined): Promise<GitEnvironment>
  /** Runs git in a bare repository. @throws {GitError} unless it exits with 0 */
  git(
    directory: string,
    address: RepositoryAddress | undefined,
    args: readonly string[],
    input?: string | Buffer,
  ): Promise<Buffer>
  /** The same, but an exit code is an answer. */
  ask(directory: string, address: RepositoryAddress | undefined, args: readonly string[]): Promise<GitResult>
  redact(text: string): string
  /** Says what is wrong with SSH_KEY_PATH and SSH_KEY_PASS; undefined: nothing. */
  checkSshKey(): Promise<string | undefined>
  [Symbol.asyncDispose](): Promise<void>
}

/** What a socket's name may still add to the folder's. Names of sockets end at about 100 characters. */
const maxPrivateFolderLength = 60
const askPass = '#!/bin/sh\nprintf \'%s\\n\' "$WATCHER_SSH_PASSPHRASE"\n'
const credentialHelper =
  '!f() { test "$1" = get && printf \'username=%s\\npassword=%s\\n\' "$WATCHER_GIT_USER" "$WATCHER_GIT_PASSWORD"; }; f'

/** Prepares the private files that git and ssh need: a copy of the key that only we can read, an empty home, sockets. */
export async function openGitAccess(settings: WriteBackSettings, searchPath: string): Promise<GitAccess> {
  const folder = await openFolder(path.resolve(settings.repoCachePath))
  const secrets = await openPrivateFolder(folder)
  const masters = new Set<string>()
  const hidden = [settings.sshKeyPass ?? '', ...[...settings.gitCredentials.values()].map(({ password }) => password)]
  const redact = (text: string) => redactGitText(text, hidden)
  const base = {
    PATH: searchPath,
    HOME: path.join(secrets, 'home'),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  }

  async function sshEnvironment(address: RepositoryAddress): Promise<GitEnvironment> {
    await copyKey(settings, secrets)
    const socket = path.join(secrets, socketName(address))
    masters.add(`${socket} ${address.user}@${address.host}`)
    const withPass = settings.sshKeyPass !== undefined
    return {
      GIT_SSH_COMMAND: ['ssh', ...sshOptions(secrets, socket, withPass)].join(' '),
      GIT_SSH_VARIANT: 'ssh',
      GIT_ALLOW_PROTOCOL: 'ssh',
      ...(withPass ? passEnvironment(settings, secrets) : {}),
    }
  }

  async function environment(directory: string, address: RepositoryAddress | undefined): Promise<GitEnvironment> {
    const own = { ...base, GIT_DIR: directory }
    if (address === undefined) return { ...own, GIT_ALLOW_PROTOCOL: 'none' }
    const reach = address.protocol === 'ssh' ? await sshEnvironment(address) : httpsEnvironment(address, settings)
    return { ...own, ...reach }
  }

  async function ask(
    directory: string,
    address: RepositoryAddress | undefined,
    args: readonly string[],
    input: string | Buffer = '',
  ): Promise<GitResult> {
    return runGit({
      arguments: args,
      environment: await environment(directory, address),
      timeoutMs: settings.gitOpTimeoutMs,
      input,
    })
  }

  return {
    folder,
    environment,
    ask,
    redact,
    async git(directory, address, args, input) {
      const { exitCode, stdout, stderr } = await ask(directory, address, args, input)
      if (exitCode === 0) return stdout
      throw gitError(stderr, address?.host ?? 'the local cache', redact)
    },
    checkSshKey: () => checkSshKey(settings, secrets, base),
    async [Symbol.asyncDispose]() {
      await Promise.all([...masters].map((master) => endMaster(master, base)))
      await rm(folder, { recursive: true, force: true })
      await rm(secrets, { recursive: true, force: true })
    },
  }
}

export function gitError(stderr: string, host: string, redact: (text: string) => string): GitError {
  const code = judgeGitFailure(stderr)
  return new GitError(code, redact(describeGitFailure(code, host, stderr)))
}

/** One folder per process: git's own locks make several fetches into one cache fail. Leftovers of the dead are removed. */
async function openFolder(root: string): Promise<string> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  for (const name of await readdir(root)) {
    const [, host, pid] = /^p-(.+)-(\d+)-[0-9a-f]{8}$/.exec(name) ?? []
    if (host === safeHostname() && pid !== undefined && !isAlive(Number(pid))) {
      await rm(path.join(root, name), { recursive: true, force: true })
    }
  }
  const folder = path.join(root, `p-${safeHostname()}-${process.pid}-${randomBytes(4).toString('hex')}`)
  await mkdir(folder, { mode: 0o700 })
  return folder
}

function safeHostname(): string {
  return hostname()
    .replace(/[^A-Za-z0-9]+/g, '')
    .slice(0, 12)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Below the cache where its name is short and plain enough for ssh's options and sockets, else in a temporary folder. */
async function openPrivateFolder(folder: string): Promise<string> {
  const isFit = folder.length <= maxPrivateFolderLength && /^[\w./-]+$/.test(folder)
  const secrets = isFit ? path.join(folder, 'ssh') : await mkdtemp(path.join(tmpdir(), 'watcher-git-'))
  await mkdir(path.join(secrets, 'home'), { recursive: true, mode: 0o700 })
  await writeFile(path.join(secrets, 'askpass'), askPass, { mode: 0o700 })
  return secrets
}

/** A key with CRLF line ends or a mode that ssh refuses is no fault: the copy has neither. Read anew each time: keys rotate. */
async function copyKey(settings: WriteBackSettings, secrets: string): Promise<void> {
  const key = await readKey(settings)
  const copy = path.join(secrets, 'key')
  const known = path.join(secrets, 'known_hosts')
  if ((await readIfAny(copy)) !== key) {
    const written = `${copy}.${randomBytes(4).toString('hex')}`
    await writeFile(written, key, { mode: 0o400 })
    await rename(written, copy)
  }
  // a link, so that ssh reads the file as it is now
  await symlink(path.resolve(settings.knownHostsPath ?? '/dev/null'), known).catch(ignoreExisting)
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}

async function readKey({ sshKeyPath }: WriteBackSettings): Promise<string> {
  try {
    const text = await readFile(sshKeyPath ?? '', 'utf8')
    return `${text.replaceAll('\r\n', '\n').trimEnd()}\n`
  } catch (cause) {
    throw new GitError('access_denied', 'the file of SSH_KEY_PATH cannot be read', { cause })
  }
}

async function readIfAny(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined)
}

function socketName({ host, port, user }: RepositoryAddress): string {
  return createHash('sha256')
    .update(`${user}@${host}:${port ?? 22}`)
    .digest('hex')
    .slice(0, 12)
}

function sshOptions(secrets: string, socket: string, withPass: boolean): readonly string[] {
  const options = [
    ...(withPass ? ['NumberOfPasswordPrompts=1'] : ['BatchMode=yes']),
    'PreferredAuthentications=publickey',
    'IdentitiesOnly=yes',
    `UserKnownHostsFile=${secrets}/known_hosts`,
    'GlobalKnownHostsFile=/dev/null',
    'StrictHostKeyChecking=yes',
    'UpdateHostKeys=no',
    'ConnectTimeout=10',
    'ServerAliveInterval=5',
    'ServerAliveCountMax=2',
    'ControlMaster=auto',
    `ControlPath=${socket}`,
    'ControlPersist=60',
  ]
  return ['-F', 'none', '-i', `${secrets}/key`, ...options.flatMap((option) => ['-o', option])]
}

function passEnvironment(settings: WriteBackSettings, secrets: string): GitEnvironment {
  return {
    SSH_ASKPASS: path.join(secrets, 'askpass'),
    SSH_ASKPASS_REQUIRE: 'force',
    WATCHER_SSH_PASSPHRASE: settings.sshKeyPass ?? '',
  }
}

/** The secret stands in the environment alone; the helper that git runs is a constant. */
function httpsEnvironment(address: RepositoryAddress, settings: WriteBackSettings): GitEnvironment {
  const host = address.port === undefined ? address.host : `${address.host}:${address.port}`
  const login = settings.gitCredentials.get(host)
  if (login === undefined) throw new GitError('access_denied', `GIT_CREDENTIALS has no entry for ${host}`)
  const config = [
    ['credential.helper', ''],
    ['credential.helper', credentialHelper],
    ['http.followRedirects', 'false'],
    ['http.lowSpeedLimit', '100'],
    ['http.lowSpeedTime', '20'],
  ] as const
  return {
    GIT_ALLOW_PROTOCOL: 'https',
    WATCHER_GIT_USER: login.user,
    WATCHER_GIT_PASSWORD: login.password,
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(
      config.flatMap(([key, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  }
}

async function checkSshKey(
  settings: WriteBackSettings,
  secrets: string,
  base: GitEnvironment,
): Promise<string | undefined> {
  if (settings.sshKeyPath === undefined) return undefined
  const key = await readKey(settings).catch(() => undefined)
  if (key === undefined) return 'SSH_KEY_PATH: the file cannot be read'
  if (!/^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) return 'SSH_KEY_PATH: the file does not hold a private key'
  await copyKey(settings, secrets)
  const { exitCode } = await runGit({
    program: 'ssh-keygen',
    arguments: ['-y', '-f', `${secrets}/key`],
    environment: { ...base, ...passEnvironment(settings, secrets) },
    timeoutMs: 10_000,
  })
  if (exitCode === 0) return undefined
  return settings.sshKeyPass === undefined
    ? 'SSH_KEY_PATH: the key cannot be read, or it has a passphrase and SSH_KEY_PASS is not set'
    : 'SSH_KEY_PASS: the passphrase does not open the key of SSH_KEY_PATH'
}

async function endMaster(master: string, base: GitEnvironment): Promise<void> {
  const [socket = '', destination = ''] = master.split(' ')
  const end = ['-F', 'none', '-o', `ControlPath=${socket}`, '-O', 'exit', destination]
  await runGit({ program: 'ssh', arguments: end, environment: base, timeoutMs: 5_000 }).catch(() => undefined)
}
