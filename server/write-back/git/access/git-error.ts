import type { Cause } from '../../../../contract/causes.ts'

export type GitFailure =
  /** The disk, the processes or the files of this machine, or the key file: another replica may fare better. */
  | 'machine'
  | 'host_key'
  | 'certificate'
  | 'access_denied'
  | 'repository_missing'
  | 'repository_archived'
  | 'repository_moved'
  | 'object_format'
  | 'branch_missing'
  | 'unreachable'
  | 'timed_out'
  /** Words that are not known, or a damaged cache. */
  | 'broken'

const passing: ReadonlySet<GitFailure> = new Set(['machine', 'unreachable', 'timed_out', 'broken'])

/** A git command that failed. The writer of a repository reads `retry`; people read `message`, which is redacted and at most 2 KiB. */
export class GitError extends Error {
  override readonly name = 'GitError'
  readonly code: GitFailure
  readonly retry: 'soon' | 'never'
  constructor(code: GitFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.retry = passing.has(code) ? 'soon' : 'never'
  }
}

const machineWords =
  /no space left|read-only file system|disk quota exceeded|too many open files|resource temporarily unavailable|cannot (?:fork|allocate memory|run ssh|create async thread)|out of memory|input\/output error|\bssh: (?:command )?not found|unable to find remote helper/i

const endedAtOnce = /^fatal: (?:could not read from remote|unable to access|authentication failed|repository ')/im

/** The words themselves, with their sources, are in test/support/git-host-words.ts. The order counts: a refused key also "hangs up". */
const failures: readonly (readonly [GitFailure, RegExp])[] = [
  ['unreachable', /temporarily read-only|returned error: 429/i],
  ['host_key', /host key verification failed|remote host identification has changed|host key is known for/i],
  [
    'certificate',
    /certificate verification failed|ssl certificate problem|certificate subject name|self.signed certificate/i,
  ],
  [
    'repository_archived',
    /was archived|archived project|is archived|repository is disabled|mirror repository \S+ is read-only/i,
  ],
  [
    'repository_missing',
    /repository (?:'[^']*' )?not found|does not appear to be a git repository|no such repository|cannot find repository|project you were looking for could not be found|repository (?:either )?does not exist|TF401019|returned error: 404/i,
  ],
  [
    'access_denied',
    /permission denied \(|public key authentication failed|authentication failed|could not read (?:username|password)|marked as read only|permission to \S+ denied|access to repository not granted|not have write access|not allowed to (?:push|upload)|not permitted to push|not authorized to (?:read|write)|repository access denied|returned error: 40[13]/i,
  ],
  ['repository_moved', /was moved to|repository moved|returned error: 30[1278]/i],
  ['object_format', /mismatched algorithms|support this repository's object format/i],
  ['branch_missing', /couldn't find remote ref|no such ref was fetched|remote branch \S+ not found/i],
  [
    'unreachable',
    /could not resolve host|connection (?:refused|timed out|reset|closed)|network is unreachable|no route to host|operation timed out|failed to connect|kex_exchange_identification|hung up unexpectedly|early eof|broken pipe|timeout, server \S+ not responding|returned error: 5\d\d|couldn't connect|ssl_error|unexpected disconnect|banner exchange/i,
  ],
]

/** What the text of a failed git command means. */
export function classifyGitFailure(stderr: string): GitFailure {
  const ours = stderr.replace(/^remote:.*$/gm, '')
  if (machineWords.test(ours)) return 'machine'
  // lines of `remote:` are the host's where it ended the connection at once, else of hooks, which may say anything
  const words = endedAtOnce.test(stderr) ? stderr : ours
  return failures.find(([, pattern]) => pattern.test(words))?.[0] ?? 'broken'
}

/** Of a commit that the host did not take: the key or token may not push at all, or a hook or rule said no. */
export function causeOfRejection(reason: string): Cause {
  return /TF401027|permission denied for writing/i.test(reason) ? 'git_access_denied' : 'git_refused'
}

/** The cause of a task that ends because of such a failure. */
export const causeOfFailure: Readonly<Record<GitFailure, Cause>> = {
  machine: 'cache_unusable',
  host_key: 'git_host_key',
  certificate: 'git_host_key',
  access_denied: 'git_access_denied',
  repository_missing: 'git_repository_missing',
  repository_archived: 'git_repository_missing',
  repository_moved: 'git_repository_missing',
  object_format: 'git_repository_missing',
  branch_missing: 'not_followed',
  unreachable: 'git_unreachable',
  timed_out: 'git_unreachable',
  broken: 'git_unreachable',
}

/** Host and what to do, in the first line. */
const advice: Partial<Readonly<Record<GitFailure, (host: string) => string>>> = {
  machine: () =>
    'this replica cannot write its cache or start git: check the disk of REPO_CACHE_PATH, and its limits of processes and files',
  certificate: (host) => `the certificate of ${host} cannot be verified: add its authority to the file of GIT_CA_FILE`,
  access_denied: (host) =>
    `${host} denied access: allow the key of SSH_KEY_PATH, the token of GIT_CREDENTIALS or the GitHub App to read and push`,
  repository_missing: (host) =>
    `${host} has no repository at this address that the key or token can see: check the address and the access`,
  repository_archived: (host) => `the repository at ${host} is read-only: unarchive it, or use another one`,
  repository_moved: (host) => `the repository at ${host} has moved: use its new address in the application`,
  object_format: (host) => `the repository at ${host} uses SHA-256, which is not supported: use one with SHA-1`,
  unreachable: (host) => `${host} cannot be reached: check the host and the network`,
}

/** Of a file that cannot be read or written, or a process that cannot be started. */
export function machineFailure(cause: unknown): GitError {
  if (cause instanceof GitError) return cause
  const text = cause instanceof Error ? cause.message : String(cause)
  return new GitError('machine', describeGitFailure('machine', '', text), { cause })
}

/** Host and advice in the first line; the words of git and the host follow. */
export function describeGitFailure(code: GitFailure, host: string, stderr: string): string {
  const said = stderr.trim() === '' ? 'git gave no reason' : stderr.trim()
  if (code === 'host_key') {
    return /has changed/i.test(stderr)
      ? `the host key of ${host} has changed and is not the one in SSH_KNOWN_HOSTS: update it if the change is known`
      : `host key unknown for ${host}: SSH_KNOWN_HOSTS does not name it, add it`
  }
  const first = advice[code]?.(host)
  return first === undefined ? said : `${first}\n${said}`
}
