/** Stands for the remote's default branch. */
export const defaultBranch = 'HEAD'

/** A branch as spelled in an annotation, or undefined where git or we would not take it for a plain branch name. */
export function parseBranchName(text: string): string | undefined {
  if (text.length < 1 || text.length > 255 || text !== text.normalize('NFC')) return undefined
  if (!/^[\p{L}\p{N}_](?:[\p{L}\p{N}._/#@+=-]*[\p{L}\p{N}_#+=-])?$/u.test(text)) return undefined
  if (text === defaultBranch || /\.\.|\/\/|@\{|(?:^|\/)\.|\.lock(?:\/|$)|\.(?:\/|$)/.test(text)) return undefined
  return /^refs\//i.test(text) || text.includes('/-') ? undefined : text
}

export type FollowedBranch = { kind: 'branch'; branch: string } | { kind: 'none'; why: string }

/**
 * The branch that a source's targetRevision follows. A name that could be a tag or a version is taken for a branch; that
 * the repository has no such branch shows before anything is committed.
 */
export function followedBranch(targetRevision: string): FollowedBranch {
  const text = targetRevision.trim()
  if (text === '' || text === defaultBranch) return { kind: 'branch', branch: defaultBranch }
  if (/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(text)) return { kind: 'none', why: 'is a commit, not a branch' }
  if (text.startsWith('refs/tags/')) return { kind: 'none', why: 'is a tag, not a branch' }
  if (/[*^~<>=|,\s]/.test(text)) return { kind: 'none', why: 'is a range of versions, not a branch' }
  const branch = parseBranchName(text.replace(/^refs\/heads\//, ''))
  return branch === undefined ? { kind: 'none', why: 'is not a branch name' } : { kind: 'branch', branch }
}
