import { type ApplicationSpec, generatePathsAnnotation, type Source, sourcesOf } from './application.ts'
import { commitPattern, type GitView, type ResolvedRevision, type SourceFiles, tidyPath } from './git-view.ts'
import type { RefreshLevel, Target } from './managed-application.ts'
import { type FetchedSource, isReferenceOnly, leavesFolder, renderSources } from './render-manifests.ts'

export type LsRemote = {
  resolve(repoUrl: string, targetRevision: string, level: RefreshLevel): Promise<ResolvedRevision>
}

/** Answers of Git by repository and revision, shared by all applications; a forced look renews them for everybody. */
export function createLsRemote(deps: { git: GitView; now: () => number; timeToLive: () => number }): LsRemote {
  const known = new Map<string, { answer: ResolvedRevision; atMs: number }>()
  return {
    async resolve(repoUrl, targetRevision, level) {
      if (commitPattern.test(targetRevision)) return { kind: 'commit', sha: targetRevision }
      const key = `${repoUrl}\n${targetRevision}`
      const cached = known.get(key)
      if (level < 3 && cached && deps.now() - cached.atMs < deps.timeToLive()) return cached.answer
      const answer = await deps.git.resolve(repoUrl, targetRevision)
      if (answer.kind === 'commit') known.set(key, { answer, atMs: deps.now() })
      return answer
    },
  }
}

export type Resolution = { kind: 'revisions'; revisions: readonly string[] } | { kind: 'error'; message: string }

/** One commit for each source, in the order of the spec, each by a look of its own; `between` happens after the first. */
export async function resolveRevisions(
  spec: ApplicationSpec,
  lsRemote: LsRemote,
  level: RefreshLevel,
  between?: () => Promise<unknown>,
): Promise<Resolution> {
  const revisions: string[] = []
  for (const [index, source] of sourcesOf(spec).entries()) {
    if (index === 1) await between?.()
    const answer = await lsRemote.resolve(source.repoURL, source.targetRevision ?? '', level)
    if (answer.kind === 'error') {
      return {
        kind: 'error',
        message: `Failed to load target state: rpc error: code = Unknown desc = ${answer.message}`,
      }
    }
    revisions.push(answer.sha)
  }
  return { kind: 'revisions', revisions }
}

export type Rendering = {
  spec: ApplicationSpec
  instance: { name: string; instanceName: string; destinationNamespace: string }
  annotations: Readonly<Record<string, string>>
}

/** Reads and renders what the sources want at these commits. */
export async function renderTarget(
  git: GitView,
  { spec, instance }: Rendering,
  revisions: readonly string[],
): Promise<Target> {
  const sources = sourcesOf(spec)
  const fetched: FetchedSource[] = []
  const refTrees = new Map<string, SourceFiles>()
  for (const [index, source] of sources.entries()) {
    const sha = revisions[index] ?? ''
    if (source.ref) refTrees.set(source.ref, (await git.filesAt(source.repoURL, sha, '')) ?? new Map())
    const files = isReferenceOnly(source) ? undefined : await filesOf(git, source, sha)
    const needsTree = source.helm?.valueFiles?.some(leavesFolder)
    fetched.push({ source, files, tree: needsTree ? await git.filesAt(source.repoURL, sha, '') : undefined })
  }
  const rendered = renderSources(fetched, refTrees, instance)
  return rendered.kind === 'manifests'
    ? { revisions, manifests: rendered.manifests, sourceTypes: rendered.sourceTypes, failure: undefined }
    : { revisions, manifests: undefined, sourceTypes: [], failure: rendered.message }
}

function filesOf(git: GitView, source: Source, sha: string): Promise<SourceFiles | undefined> {
  return git.filesAt(source.repoURL, sha, source.path ?? '')
}

/**
 * Whether the annotation manifest-generate-paths lets the controller take over the manifests of `before`.
 *
 * Paths are relative to the source's folder, or to the repository when they start with a slash.
 */
export async function isUntouched(
  git: GitView,
  { spec, annotations }: Rendering,
  before: readonly string[],
  after: readonly string[],
): Promise<boolean> {
  const annotation = annotations[generatePathsAnnotation]
  if (!annotation) return false
  for (const [index, source] of sourcesOf(spec).entries()) {
    for (const path of annotation.split(';').filter((entry) => entry !== '')) {
      const folder = path.startsWith('/') ? tidyPath(path) : tidyPath(`${source.path ?? ''}/${path}`)
      const [was, is] = await Promise.all([
        contentOf(git, source.repoURL, before[index] ?? '', folder),
        contentOf(git, source.repoURL, after[index] ?? '', folder),
      ])
      if (was !== is) return false
    }
  }
  return true
}

/** A path may name a folder or a single file. */
async function contentOf(git: GitView, repoUrl: string, sha: string, path: string): Promise<string> {
  const folder = await git.filesAt(repoUrl, sha, path)
  if (folder) return JSON.stringify([...folder].sort())
  const parent = path.split('/').slice(0, -1).join('/')
  const file = (await git.filesAt(repoUrl, sha, parent))?.get(path.split('/').at(-1) ?? '')
  return JSON.stringify(file ?? null)
}
