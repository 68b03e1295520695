export type GitFailure =
  | 'git_missing'
  | 'ssh_missing'
  | 'host_key'
  | 'access_denied'
  | 'repository_missing'
  | 'branch_missing'
  | 'unreachable'
  | 'timed_out'
  /** None of the others: perhaps the cache on disk is damaged. */
  | 'broken'

const passing: ReadonlySet<GitFailure> = new Set(['unreachable', 'timed_out', 'broken'])

/** A git command that failed. The drainer reads `retry`; people read `message`, which is redacted and at most 2 KiB. */
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

const failures: readonly (readonly [GitFailure, RegExp])[] = [
  ['ssh_missing', /\bssh: (?:command )?not found|cannot run ssh|unable to find remote helper/i],
  ['host_key', /host key verification failed|remote host identification has changed|host key is known for/i],
  [
    'access_denied',
    /permission denied \(|authentication failed|could not read (?:username|password)|returned error: 40[13]|marked as read only|write access to repository not granted|permission to \S+ denied/i,
  ],
  ['branch_missing', /couldn't find remote ref|no such ref was fetched|remote branch \S+ not found/i],
  [
    'repository_missing',
    /repository (?:'[^']*' )?not found|does not appear to be a git repository|no such repository|project you were looking for could not be found|returned error: 404/i,
  ],
  [
    'unreachable',
    /could not resolve host|connection (?:refused|timed out|reset|closed)|network is unreachable|no route to host|operation timed out|failed to connect|kex_exchange_identification|hung up unexpectedly|early eof|broken pipe|timeout, server \S+ not responding|returned error: 5\d\d|couldn't connect|ssl_error|unexpected disconnect|banner exchange/i,
  ],
]

/** What the text of a failed git command means. The order counts: a refused key also "hangs up". */
export function classifyGitFailure(stderr: string): GitFailure {
  return failures.find(([, pattern]) => pattern.test(stderr))?.[0] ?? 'broken'
}

/** Says in the first line which host a changed or unknown key belongs to; git's own words follow. */
export function describeGitFailure(code: GitFailure, host: string, stderr: string): string {
  const said = stderr.trim() === '' ? 'git gave no reason' : stderr.trim()
  if (code === 'host_key') {
    return /has changed/i.test(stderr)
      ? `the host key of ${host} has changed and is not the one in SSH_KNOWN_HOSTS`
      : `host key unknown for ${host}: SSH_KNOWN_HOSTS does not name it`
  }
  if (code === 'access_denied') return `${host} refused the credentials: ${said}`
  if (code === 'unreachable') return `${host} cannot be reached: ${said}`
  return said
}
