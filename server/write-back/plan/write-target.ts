import { quote } from '../../../contract/fields.ts'
import type { OverrideEntry } from '../edit/file-edit.ts'
import type { ApplicationSource, WriteBackApplication } from './application-source.ts'
import { defaultBranch, followedBranch, parseBranchName } from './branch-name.ts'
import type { ApplicationAnnotations } from './parse-annotations.ts'
import { isSameRepository, parseRepositoryAddress } from './repository-address.ts'
import { checkDirectory, hiddenDirectoryFault } from './repository-path.ts'
import { type RejectedWriteBack, refused } from './write-back-outcome.ts'

/** What a write-back edits in the repository of its target. */
export type PlannedFile = {
  readonly kind: 'file'
  /** From the root. */
  readonly path: string
  /** Those of the source itself: a list in the override file replaces them, so it has to repeat them. */
  readonly sourceEntries: readonly OverrideEntry[]
  /** Override files that Argo CD reads besides, from the root. */
  readonly beside: readonly string[]
  /** For the timeline. */
  readonly warnings: readonly string[]
}

export type WriteTarget = {
  kind: 'target'
  repository: string
  branch: string
  /** Of the override file, and what paths in other targets are relative to. */
  directory: string
  /** The sources that will see a commit. */
  followers: readonly ApplicationSource[]
  /** The source that reads override files in this directory, if any. */
  reader: ApplicationSource | undefined
}

/** Where the only source of an application reads its override file (spec 2.6, rule 1). */
export function writeTargetBySource(source: ApplicationSource | undefined): WriteTarget | RejectedWriteBack {
  if (source === undefined) return refused('not_followed', 'the application has no source to write to')
  if (source.chart !== undefined || /^oci:/i.test(source.repository)) {
    return refused('not_followed', 'the source of the application is not a git repository')
  }
  const followed = followedBranch(source.targetRevision)
  if (followed.kind === 'none') return notFollowed(source, followed.why)
  const directory = checkDirectory(source.path)
  if (directory.kind === 'invalid') return refused('not_followed', `the path of the source ${directory.reason}`)
  const hidden = hiddenDirectoryFault(directory.path, [directory.path])
  if (hidden !== undefined) {
    return refused('annotation_invalid', `managed: the path of the source ${quote(source.path)} ${hidden}`)
  }
  const { branch } = followed
  return {
    kind: 'target',
    repository: source.repository,
    branch,
    directory: directory.path,
    followers: [source],
    reader: source,
  }
}

function notFollowed(source: ApplicationSource, why: string): RejectedWriteBack {
  const revision = quote(source.targetRevision)
  return refused('not_followed', `a write-back needs a branch: the targetRevision ${revision} ${why}`)
}

/** Where the annotations of an application with several sources say (spec 2.6, rule 2). */
export function writeTargetByAnnotations(
  application: WriteBackApplication,
  annotations: ApplicationAnnotations,
): WriteTarget | RejectedWriteBack {
  const { writeBackRepository: repository, writeBackBranch: branch, writeBackPath: path } = annotations
  if (repository === undefined || branch === undefined || path === undefined) {
    return refused('annotation_invalid', `an application with several sources needs ${missing(annotations)}`)
  }
  if (parseBranchName(branch) === undefined) {
    return refused('annotation_invalid', `write-back-branch ${quote(branch)} is not a branch name`)
  }
  const directory = checkDirectory(path)
  if (directory.kind === 'invalid') {
    return refused('annotation_invalid', `write-back-path ${quote(path)} ${directory.reason}`)
  }
  if (parseRepositoryAddress(repository) === undefined) return addressNotAllowed(repository, true)
  const followers = followersOf(application.sources, repository, branch)
  if (followers.kind === 'refused') return followers
  const hidden = hiddenDirectoryFault(
    directory.path,
    followers.sources.map((source) => directoryOf(source) ?? ''),
  )
  if (hidden !== undefined) return refused('annotation_invalid', `write-back-path ${quote(path)} ${hidden}`)
  const reader = followers.sources.find((source) => isInDirectory(source, directory.path))
  return { kind: 'target', repository, branch, directory: directory.path, followers: followers.sources, reader }
}

/** The source with a `ref` that a path such as `$ref/values.yaml` begins with gives the repository and the branch. */
export function writeTargetByRef(
  { sources, isMultiSource }: WriteBackApplication,
  path: string,
): WriteTarget | RejectedWriteBack {
  const name = /^\$([^/]*)/.exec(path)?.[1] ?? ''
  const source = isMultiSource ? sources.find(({ ref }) => ref === name) : undefined
  if (source === undefined) {
    return refused(
      'annotation_invalid',
      `write-back-target ${quote(path)}: no source of the application has the ref ${quote(name)}`,
    )
  }
  if (source.chart !== undefined || /^oci:/i.test(source.repository)) {
    return refused('not_followed', `the source with the ref ${quote(name)} is not a git repository`)
  }
  const followed = followedBranch(source.targetRevision)
  if (followed.kind === 'none') return notFollowed(source, followed.why)
  const { branch } = followed
  const followers = followersOf(sources, source.repository, branch)
  if (followers.kind === 'refused') return followers
  return {
    kind: 'target',
    repository: source.repository,
    branch,
    directory: '',
    followers: followers.sources,
    reader: undefined,
  }
}

function missing(annotations: ApplicationAnnotations): string {
  return [
    annotations.writeBackRepository === undefined ? 'write-back-repo' : '',
    annotations.writeBackBranch === undefined ? 'write-back-branch' : '',
    annotations.writeBackPath === undefined ? 'write-back-path' : '',
  ]
    .filter((name) => name !== '')
    .join(', ')
}

/** The sources that will see a commit on the branch. A source that follows HEAD may: which branch that is, only git knows. */
function followersOf(
  sources: readonly ApplicationSource[],
  repository: string,
  branch: string,
): { kind: 'followers'; sources: readonly ApplicationSource[] } | RejectedWriteBack {
  const ofRepository = sources.filter(
    (source) => source.chart === undefined && isSameRepository(source.repository, repository),
  )
  if (ofRepository.length === 0) {
    return refused('not_followed', 'no source of the application has the repository of write-back-repo')
  }
  const following = ofRepository.filter(({ targetRevision }) => {
    const followed = followedBranch(targetRevision)
    return followed.kind === 'branch' && (followed.branch === branch || followed.branch === defaultBranch)
  })
  return following.length > 0
    ? { kind: 'followers', sources: following }
    : refused('not_followed', `no source of the application follows the branch ${quote(branch)}`)
}

/** A source that is only referred to renders nothing, so it reads no override file. */
function isInDirectory(source: ApplicationSource, directory: string): boolean {
  if (source.ref !== undefined && source.path === '') return false
  return directoryOf(source) === directory
}

/** As it is compared with the directory of an override file; undefined where no write-back may go there. */
export function directoryOf(source: ApplicationSource): string | undefined {
  const checked = checkDirectory(source.path)
  return checked.kind === 'path' ? checked.path : undefined
}

/** The address itself is not shown: it may hold a password. */
export function addressNotAllowed(repository: string, isMultiSource: boolean): RejectedWriteBack {
  const [cause, field] = isMultiSource
    ? (['annotation_invalid', 'write-back-repo'] as const)
    : (['git_refused', 'repoURL'] as const)
  return refused(cause, `${field}: repository address not allowed: ${brokenRule(repository)}`)
}

function brokenRule(repository: string): string {
  if (/%(?!20)/.test(repository)) return 'only %20 may be percent-encoded'
  const [, protocol] = /^([a-z+-]{1,16}):/i.exec(repository.trim()) ?? []
  const found = protocol === undefined ? '' : `, not ${protocol}`
  return `use ssh://user@host/path, user@host:path or https://host/path${found}`
}
