import type { GitView } from '../../simulator/model/git-view.ts'
import { createMemoryGit } from '../../simulator/model/memory-git.ts'
import { type ExampleApplication, firstTags, type Tags } from './example-application.ts'

/** The repositories of a history, and which tags each commit sets. */
export function createHistoryGit(
  applications: readonly ExampleApplication[],
  nowMs: () => number,
  isSteppingBack: () => boolean,
) {
  const git = createMemoryGit()
  const tagsAt = new Map<string, { readonly atMs: number; readonly tags: ReadonlyMap<string, Tags | undefined> }>()
  const newest = new Map<string, Tags | undefined>(applications.map(({ name }) => [name, firstTags]))
  const hasFile = new Set<string>()
  let changes = 0

  const remember = (commit: string) => {
    tagsAt.set(commit, { atMs: nowMs(), tags: new Map(newest) })
    return commit
  }
  git.push('values', { 'README.md': 'values' })
  for (const { chart } of applications) git.push('gitops', chart)
  for (const repository of ['gitops', 'values']) remember(git.head(repository) ?? '')

  const view: GitView = {
    ...git,
    /** A replicated Git host may answer with the commit before. */
    async resolve(repository, revision) {
      const answer = await git.resolve(repository, revision)
      const before = answer.kind === 'commit' && isSteppingBack() ? git.parentOf(answer.sha) : undefined
      return before === undefined ? answer : { kind: 'commit', sha: before }
    },
  }

  return {
    view,
    head: (repository: string) => git.head(repository) ?? '',
    isAncestor: git.isAncestor,
    tagsOf: ({ name }: ExampleApplication) => newest.get(name) ?? firstTags,
    /** What a commit sets for an application; `undefined`: its file cannot be read. */
    tagsAt: ({ name }: ExampleApplication, commit: string) => tagsAt.get(commit)?.tags.get(name),
    /** The file as the branch has it is just what would be written. */
    holds: ({ repository, name }: ExampleApplication, tags: Tags) =>
      hasFile.has(name) && git.head(repository) !== undefined && sameTags(newest.get(name), tags),
    setTags(application: ExampleApplication, tags: Tags): string {
      const { name, repository, overrideFile, renderOverride } = application
      newest.set(name, tags)
      hasFile.add(name)
      return remember(git.push(repository, { [overrideFile]: renderOverride(tags) }))
    },
    breakFile({ name, repository, overrideFile }: ExampleApplication): string {
      newest.set(name, undefined)
      return remember(git.push(repository, { [overrideFile]: 'helm: [' }))
    },
    /** What the commits after this one, made by `byMs`, set for an application. */
    commitsAfter: ({ name }: ExampleApplication, commit: string, byMs: number) =>
      [...tagsAt].flatMap(([later, { atMs, tags }]) =>
        later !== commit && atMs <= byMs && git.isAncestor(commit, later) ? [tags.get(name)] : [],
      ),
    changeSomething(repository: string): string {
      changes += 1
      return remember(git.push(repository, { 'CHANGES.md': String(changes) }))
    },
  }
}

export type HistoryGit = ReturnType<typeof createHistoryGit>

const sameTags = (a: Tags | undefined, b: Tags) => a?.main === b.main && a.worker === b.worker
