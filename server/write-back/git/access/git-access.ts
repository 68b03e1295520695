import path from 'node:path'
import { chooseTransport } from '../../plan/choose-transport.ts'
import { parseRepositoryAddress, type RepositoryAddress } from '../../plan/repository-address.ts'
import { type WriteBackSettings, writeBackSecrets } from '../../plan/write-back-settings.ts'
import { type CacheLimit, createCacheLimit } from './cache-limit.ts'
import { type Sign, withSigner } from './commit-signer.ts'
import { classifyGitFailure, describeGitFailure, GitError, machineFailure } from './git-error.ts'
import { type AppTokens, httpsEnvironment } from './https-environment.ts'
import { openKeyFile } from './key-file.ts'
import { createObjectReader, type ObjectReader } from './object-reader.ts'
import { openProcessFolders } from './process-folders.ts'
import { redactGitText } from './redact-git-text.ts'
import { type GitEnvironment, type GitResult, runGit } from './run-git.ts'
import { openSshAccess } from './ssh-access.ts'
import { openUserEntry } from './user-entry.ts'

type CommandOptions = {
  readonly input?: string | Buffer
  /** Where the work that the command is for ends before GIT_OP_TIMEOUT. */
  readonly timeoutMs?: number | undefined
}

export type GitAccess = {
  /** A folder of this process alone, for caches. */
  readonly folder: string
  /** Bounds them (REPO_CACHE_LIMIT). */
  readonly caches: Pick<CacheLimit, 'add' | 'trim'>
  /** The address by which git reaches a repository, however it is spelled. @throws {GitError} it is not an address */
  addressOf(repository: string): RepositoryAddress
  /** The environment for a repository; without an address nothing can reach the network. */
  environment(directory: string, address: RepositoryAddress | undefined): Promise<GitEnvironment>
  /** Reads objects of a bare repository, and those that it lacks from the address; `limitMs`: for one object. */
  openReader(directory: string, address: () => RepositoryAddress, limitMs?: () => number): ObjectReader
  /** Runs git in a bare repository. @throws {GitError} unless it exits with 0 */
  git(
    directory: string,
    address: RepositoryAddress | undefined,
    args: readonly string[],
    options?: CommandOptions,
  ): Promise<Buffer>
  /** The same, but an exit code is an answer. */
  ask(
    directory: string,
    address: RepositoryAddress | undefined,
    args: readonly string[],
    options?: CommandOptions,
  ): Promise<GitResult>
  redact(text: string): string
  /** With what the commits of a batch are signed; undefined: they are not. */
  readonly withSigner: (<Result>(work: (sign: Sign) => Promise<Result>) => Promise<Result>) | undefined
  /** Says what is wrong with SSH_KEY_PATH and SSH_SIGNING_KEY_PATH and their passphrases. */
  checkKeys(): Promise<readonly string[]>
  [Symbol.asyncDispose](): Promise<void>
}

const trimMs = 60_000

/** Prepares the private files that git and ssh need: a copy of the key that only we can read, an empty home, sockets. */
export async function openGitAccess(
  settings: WriteBackSettings,
  searchPath: string,
  tokens?: AppTokens,
): Promise<GitAccess> {
  const folders = await openProcessFolders(settings.repoCachePath)
  const { caches, secrets } = folders
  const limit = createCacheLimit({
    limitBytes: settings.repoCacheLimitBytes,
    idleMs: settings.gitOpTimeoutMs,
    nowMs: Date.now,
  })
  const trimming = setInterval(() => void limit.trim().catch(() => undefined), trimMs).unref()
  const redact = (text: string) => redactGitText(text, [...writeBackSecrets(settings), ...(tokens?.secrets() ?? [])])
  const plain = {
    PATH: searchPath,
    HOME: path.join(secrets, 'home'),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_LITERAL_PATHSPECS: '1',
  }
  const user = await openUserEntry(secrets, plain)
  const base = { ...plain, ...user.environment }
  const ensureFolders = () =>
    folders
      .ensure()
      .then(user.write)
      .catch((error: unknown) => Promise.reject(machineFailure(error)))

  const sshKey = openKeyFile(
    {
      setting: 'SSH_KEY_PATH',
      passphraseSetting: 'SSH_KEY_PASS',
      path: settings.sshKeyPath,
      passphrase: settings.sshKeyPass,
    },
    secrets,
    'key',
  )
  const signingKey = openKeyFile(
    {
      setting: 'SSH_SIGNING_KEY_PATH',
      passphraseSetting: 'SSH_SIGNING_KEY_PASS',
      path: settings.signingKeyPath,
      passphrase: settings.signingKeyPass,
    },
    secrets,
    'signing-key',
  )
  const ssh = openSshAccess(settings, sshKey, secrets, base)

  async function environment(directory: string, address: RepositoryAddress | undefined): Promise<GitEnvironment> {
    await ensureFolders()
    limit.noteUse(directory)
    const own = { ...base, GIT_DIR: directory }
    if (address === undefined) return { ...own, GIT_ALLOW_PROTOCOL: 'none' }
    const reach = await (address.protocol === 'ssh'
      ? ssh.environment(address)
      : httpsEnvironment(address, settings, tokens))
    return { ...own, ...reach }
  }

  function addressOf(repository: string): RepositoryAddress {
    const spelled = parseRepositoryAddress(repository)
    if (spelled === undefined) throw new GitError('repository_missing', 'repository address not allowed')
    return chooseTransport(spelled, settings) ?? spelled
  }

  async function ask(
    directory: string,
    address: RepositoryAddress | undefined,
    args: readonly string[],
    { input = '', timeoutMs = settings.gitOpTimeoutMs }: CommandOptions = {},
  ): Promise<GitResult> {
    const result = await attempt(directory, address, args, input, timeoutMs)
    // A token may end, or be withdrawn, while it is kept; nothing was pushed with it.
    return wasDenied(result) ? attempt(directory, address, args, input, timeoutMs) : result
  }

  async function attempt(
    directory: string,
    address: RepositoryAddress | undefined,
    args: readonly string[],
    input: string | Buffer,
    timeoutMs: number,
  ): Promise<GitResult & { readonly used: GitEnvironment }> {
    const used = await environment(directory, address)
    // a host that runs its hooks is as quiet as a dead one: only the time limit ends a push, as over SSH
    const patience = args[0] === 'push' ? { GIT_HTTP_LOW_SPEED_TIME: '0' } : {}
    try {
      return { ...(await runGit({ arguments: args, environment: { ...used, ...patience }, timeoutMs, input })), used }
    } catch (error) {
      if (error instanceof GitError && error.code === 'timed_out') ssh.leaveConnection(used)
      throw error
    }
  }

  /** Whether the host did not take a token of the App, which is not used again. */
  function wasDenied({ exitCode, stderr, used }: GitResult & { readonly used: GitEnvironment }): boolean {
    const { WATCHER_GIT_PASSWORD: token } = used
    const isOfApp = exitCode !== 0 && token !== undefined && tokens?.isKept(token) === true
    if (!isOfApp || classifyGitFailure(stderr) !== 'access_denied') return false
    tokens?.forget(token)
    return true
  }

  /** False for a token or passphrase that neither the settings nor the App hold any more. */
  function isCurrent({ WATCHER_GIT_PASSWORD, WATCHER_SSH_PASSPHRASE }: GitEnvironment): boolean {
    const secrets = writeBackSecrets(settings)
    return [WATCHER_GIT_PASSWORD, WATCHER_SSH_PASSPHRASE].every(
      (used) => used === undefined || secrets.includes(used) || tokens?.isKept(used) === true,
    )
  }

  async function sign<Result>(work: (sign: Sign) => Promise<Result>): Promise<Result> {
    await ensureFolders()
    return withSigner(signingKey, base, work)
  }

  return {
    folder: caches,
    caches: limit,
    addressOf,
    environment,
    openReader: (directory, address, limitMs = () => settings.gitOpTimeoutMs) =>
      createObjectReader({
        environment: () => environment(directory, address()),
        isCurrent,
        timeoutMs: limitMs,
        onTimeOut: ssh.leaveConnection,
        errorOf: (stderr) => gitError(stderr, address().host, redact),
      }),
    ask,
    redact,
    async git(directory, address, args, options) {
      const { exitCode, stdout, stderr } = await ask(directory, address, args, options)
      if (exitCode === 0) return stdout
      throw gitError(stderr, address?.host ?? 'the local cache', redact)
    },
    withSigner: settings.signingKeyPath === undefined ? undefined : sign,
    async checkKeys() {
      const issues = await Promise.all([sshKey.check(base), signingKey.check(base)])
      return issues.filter((issue) => issue !== undefined)
    },
    async [Symbol.asyncDispose]() {
      clearInterval(trimming)
      await ssh.close()
      await folders[Symbol.asyncDispose]()
    },
  }
}

export function gitError(stderr: string, host: string, redact: (text: string) => string): GitError {
  const code = classifyGitFailure(stderr)
  return new GitError(code, redact(describeGitFailure(code, host, stderr)))
}
