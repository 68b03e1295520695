export type ResolvedRevision = { kind: 'commit'; sha: string } | { kind: 'error'; message: string }

/** Files below a folder, by their path inside it. */
export type SourceFiles = ReadonlyMap<string, string>

/** What the controller can see of Git. It answers from the repository itself; caching is the controller's affair. */
export type GitView = {
  /** `targetRevision` is a branch, a tag, a commit, or empty for HEAD. */
  resolve(repoUrl: string, targetRevision: string): Promise<ResolvedRevision>
  /** `undefined`: there is no such folder. An empty path is the whole tree. */
  filesAt(repoUrl: string, sha: string, path: string): Promise<SourceFiles | undefined>
}

/** Commits files on top of a branch, which is made where there is none, and gives the commit. */
export type CommitFiles = (
  repoUrl: string,
  branch: string,
  files: Readonly<Record<string, string>>,
  message: string,
) => Promise<string>

export const commitPattern = /^[0-9a-f]{40}$/

export function unresolved(targetRevision: string): ResolvedRevision {
  return { kind: 'error', message: `unable to resolve '${targetRevision}' to a commit SHA` }
}

/** Path without slashes at its ends and without `.` parts. */
export function tidyPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
}
