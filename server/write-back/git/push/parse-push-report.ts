/** What `git push --porcelain` said of our one ref. */
export type PushReport =
  | { readonly kind: 'pushed' }
  /** The branch is elsewhere, or the server could not move it. */
  | { readonly kind: 'lost_race'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The server could not do it now. */
  | { readonly kind: 'passing'; readonly reason: string }
  /** The server lacks what our pack builds on, or objects to the shallow cache. */
  | { readonly kind: 'cache_unfit'; readonly reason: string }
  /** Nothing was said of the ref. */
  | { readonly kind: 'silent' }

const race =
  /fetch first|non-fast-forward|failed to update ref|cannot lock ref|incorrect old value|stale info|already been updated by another client|is at [0-9a-f]+ but expected/i
const unfit = /shallow update not allowed|unpacker error|missing necessary objects|unresolved deltas/i
const passing = /internal(?: server)? error|temporar|timed? ?out|try again|unavailable/i

export function parsePushReport(stdout: string, branch: string): PushReport {
  const line = stdout.split('\n').find((text) => text.split('\t')[1]?.endsWith(`:refs/heads/${branch}`))
  if (line === undefined) return { kind: 'silent' }
  const [flag = '', , summary = ''] = line.split('\t')
  if (flag.trim() !== '!') return { kind: 'pushed' }
  const reason = summary.replace(/^\[[^\]]*\]\s*/, '').replace(/^\((.*)\)$/, '$1')
  if (summary.startsWith('[remote failure]')) return { kind: 'silent' }
  if (race.test(reason)) return { kind: 'lost_race', reason }
  if (unfit.test(reason)) return { kind: 'cache_unfit', reason }
  return passing.test(reason) ? { kind: 'passing', reason } : { kind: 'refused', reason }
}

/**
 * Whether a push that reported nothing ended before the host took anything: only git's own words on the first contact, or
 * on an HTTP status that turns the pack away, say so.
 * What the server and its hooks say (`remote:`) proves nothing.
 */
export function wasNeverSent(stderr: string): boolean {
  return /^error: RPC failed; HTTP [34]\d\d |^fatal: (?:could not read from remote repository|the remote end hung up upon initial contact|unable to access|authentication failed|could not read (?:username|password)|repository '.*' not found|unable to fork)/im.test(
    stderr,
  )
}
