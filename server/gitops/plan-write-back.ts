import type { Cause } from '../../contract/cause.ts'
import type { Image } from '../../contract/task.ts'
import type { ApplicationSource, HelmParameter, WriteBackApplication } from './application-source.ts'
import { defaultBranch, followedBranch, parseBranchName } from './branch-name.ts'
import { commitMessage } from './commit-message.ts'
import { type ApplicationAnnotations, parseAnnotations } from './parse-annotations.ts'
import {
  isAllowedRepository,
  isSameRepository,
  parseRepositoryAddress,
  type RepositoryAddress,
} from './repository-address.ts'
import { checkDirectory, checkFileName } from './repository-path.ts'
import type { WriteBackSettings } from './write-back-settings.ts'

/** Which tag of which image goes where. Stored with the pending write, so it holds plain data only. */
export type WriteBackPlan = {
  readonly app: string
  readonly repository: string
  /** `HEAD`: the remote's default branch. */
  readonly branch: string
  /** The override file, from the root of the repository. */
  readonly file: string
  readonly parameters: readonly PlannedParameter[]
  /** Parameters of the source itself: a list in the override file replaces them, so it has to repeat them. */
  readonly sourceParameters: readonly HelmParameter[]
  readonly message: string
}

type PlannedParameter = { readonly name: string; readonly value: string; readonly image: string }

export type WriteBackDecision =
  | {
      readonly kind: 'write'
      readonly plan: WriteBackPlan
      readonly warnings: readonly string[]
      readonly fireAndForget: boolean
    }
  /** Only watched. `note` is the first line of a later time-out; '' where nothing needs saying. */
  | {
      readonly kind: 'monitor'
      readonly why: 'not_managed' | 'no_credential' | 'no_alias'
      readonly note: string
    }
  /** The task fails at once, before any commit. */
  | { readonly kind: 'refused'; readonly cause: Cause; readonly reason: string }

type Refusal = Extract<WriteBackDecision, { kind: 'refused' }>

/** A task, as far as a write-back reads it. */
export type WriteBackTask = {
  readonly id: string
  readonly app: string
  readonly images: readonly Image[]
  readonly mayWrite: boolean
}

/** Decides whether a task's tags are committed, and where (spec 2.6). */
export function planWriteBack(
  task: WriteBackTask,
  application: WriteBackApplication,
  settings: WriteBackSettings,
): WriteBackDecision {
  const annotations = parseAnnotations(application.annotations, settings.annotationPrefixes)
  const monitored = whyOnlyMonitored(task, annotations)
  if (monitored) return monitored
  if (annotations.faults.length > 0) return refused('annotation_invalid', annotations.faults.join('; '))
  const parameters = parametersOf(task.images, annotations)
  if (parameters.kind === 'refused') return parameters
  if (parameters.parameters.length === 0) return noAlias(task)
  const place = application.isMultiSource
    ? placeByAnnotations(application, annotations)
    : placeBySource(application.sources[0])
  if (place.kind === 'refused') return place
  const access = checkAccess(place.repository, application.isMultiSource, settings)
  if (access.kind === 'refused') return access
  const file = overrideFile(place.directory, application, annotations, settings)
  if (file.kind === 'refused') return file
  return {
    kind: 'write',
    plan: {
      app: task.app,
      repository: access.address.text,
      branch: place.branch,
      file: file.path,
      parameters: parameters.parameters,
      sourceParameters: place.reader?.helmParameters ?? [],
      message: commitMessage(task, settings.commitTrailer),
    },
    warnings: [
      ...annotations.notes,
      ...(place.reader ? [] : [`no source of the application reads the directory ${shown(place.directory)}`]),
      ...generatePathWarnings(application, file.path),
    ],
    fireAndForget: annotations.fireAndForget,
  }
}

function refused(cause: Cause, reason: string): Refusal {
  return { kind: 'refused', cause, reason }
}

function whyOnlyMonitored(
  task: WriteBackTask,
  annotations: ApplicationAnnotations,
): Extract<WriteBackDecision, { kind: 'monitor' }> | undefined {
  if (!annotations.managed) {
    const note = task.mayWrite ? 'nothing was committed: no annotation managed = "true" on the application' : ''
    return { kind: 'monitor', why: 'not_managed', note }
  }
  if (task.mayWrite) return undefined
  const note = 'nothing was committed: the application is managed, but the task came without a valid credential'
  return { kind: 'monitor', why: 'no_credential', note }
}

function noAlias(task: WriteBackTask): WriteBackDecision {
  const names = task.images.map(({ image }) => image).join(', ')
  const note = `nothing was committed: the annotation managed-images has no alias for ${names}`
  return { kind: 'monitor', why: 'no_alias', note }
}

type Parameters = { kind: 'parameters'; parameters: readonly PlannedParameter[] } | Refusal

/** Every alias of every wanted image (spec 2.6, rule 3). Two aliases may share a parameter only for the same tag. */
function parametersOf(images: readonly Image[], { managedImages }: ApplicationAnnotations): Parameters {
  const byName = new Map<string, PlannedParameter>()
  for (const { image, tag } of images) {
    for (const managed of managedImages.filter((entry) => entry.image === image)) {
      if (managed.tag.kind === 'fault') return refused('annotation_invalid', managed.tag.reason)
      const earlier = byName.get(managed.tag.name)
      if (earlier && earlier.value !== tag) {
        return refused('annotation_invalid', `two images of the task share the parameter ${managed.tag.name}`)
      }
      byName.set(managed.tag.name, { name: managed.tag.name, value: tag, image })
    }
  }
  return { kind: 'parameters', parameters: [...byName.values()] }
}

type Place = {
  kind: 'place'
  repository: string
  branch: string
  directory: string
  /** The source that reads override files in this directory, if any. */
  reader: ApplicationSource | undefined
}

function placeBySource(source: ApplicationSource | undefined): Place | Refusal {
  if (source === undefined) return refused('not_followed', 'the application has no source to write to')
  if (source.chart !== undefined || /^oci:/i.test(source.repository)) {
    return refused('not_followed', 'the source of the application is not a git repository')
  }
  const followed = followedBranch(source.targetRevision)
  if (followed.kind === 'none') return notFollowed(source, followed.why)
  const directory = checkDirectory(source.path)
  if (directory.kind === 'fault') return refused('not_followed', `the path of the source ${directory.reason}`)
  const { branch } = followed
  return { kind: 'place', repository: source.repository, branch, directory: directory.path, reader: source }
}

function notFollowed(source: ApplicationSource, why: string): Refusal {
  const revision = shown(source.targetRevision)
  return refused('not_followed', `a write-back needs a branch: the targetRevision ${revision} ${why}`)
}

function placeByAnnotations(application: WriteBackApplication, annotations: ApplicationAnnotations): Place | Refusal {
  const { writeBackRepository: repository, writeBackBranch: branch, writeBackPath: path } = annotations
  if (repository === undefined || branch === undefined || path === undefined) {
    return refused('annotation_invalid', `an application with several sources needs ${missing(annotations)}`)
  }
  if (parseBranchName(branch) === undefined) {
    return refused('annotation_invalid', `write-back-branch ${shown(branch)} is not the name of a branch`)
  }
  const directory = checkDirectory(path)
  if (directory.kind === 'fault') {
    return refused('annotation_invalid', `write-back-path ${shown(path)} ${directory.reason}`)
  }
  if (parseRepositoryAddress(repository) === undefined) return addressNotAllowed(repository, true)
  const followers = followersOf(application.sources, repository, branch)
  if (followers.kind === 'refused') return followers
  const reader = followers.sources.find((source) => isInDirectory(source, directory.path))
  return { kind: 'place', repository, branch, directory: directory.path, reader }
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
): { kind: 'followers'; sources: readonly ApplicationSource[] } | Refusal {
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
    : refused('not_followed', `no source of the application follows the branch ${shown(branch)}`)
}

/** A source that is only referred to renders nothing, so it reads no override file. */
function isInDirectory(source: ApplicationSource, directory: string): boolean {
  if (source.ref !== undefined && source.path === '') return false
  const path = checkDirectory(source.path)
  return path.kind === 'path' && path.path === directory
}

type Access = { kind: 'access'; address: RepositoryAddress } | Refusal

function checkAccess(repository: string, isMultiSource: boolean, settings: WriteBackSettings): Access {
  const address = parseRepositoryAddress(repository)
  if (address === undefined) return addressNotAllowed(repository, isMultiSource)
  if (!isAllowedRepository(address, settings.allowedRepos)) {
    return refused(
      'git_refused',
      `repository address not allowed: ${address.location} is not in WRITE_BACK_ALLOWED_REPOS`,
    )
  }
  const setting = missingSetting(address, settings)
  return setting === undefined ? { kind: 'access', address } : refused('setting_missing', setting)
}

/** The address itself is not shown: it may hold a password. */
function addressNotAllowed(repository: string, isMultiSource: boolean): Refusal {
  const [, protocol] = /^([a-z+-]{1,16}):/i.exec(repository.trim()) ?? []
  const found = protocol === undefined ? 'this is none of them' : `not ${protocol}`
  return refused(
    isMultiSource ? 'annotation_invalid' : 'git_refused',
    `repository address not allowed: use ssh://user@host/path, user@host:path or https://host/path, ${found}`,
  )
}

function missingSetting(address: RepositoryAddress, settings: WriteBackSettings): string | undefined {
  if (address.protocol === 'https') {
    const host = address.port === undefined ? address.host : `${address.host}:${address.port}`
    if (settings.gitCredentials.has(host)) return undefined
    return `repository address not allowed: GIT_CREDENTIALS has no entry for ${host}`
  }
  if (settings.sshKeyPath === undefined)
    return `SSH_KEY_PATH is not set, so nothing can be committed to ${address.host}`
  if (settings.knownHostsPath !== undefined) return undefined
  return `SSH_KNOWN_HOSTS is not set, so the host key of ${address.host} cannot be checked`
}

function overrideFile(
  directory: string,
  application: WriteBackApplication,
  annotations: ApplicationAnnotations,
  settings: WriteBackSettings,
): { kind: 'file'; path: string } | Refusal {
  const name = annotations.writeBackFilename ?? overrideFileName(application, settings)
  const checked = checkFileName(name)
  if (checked.kind === 'fault') {
    return refused('annotation_invalid', `write-back-filename: the file name ${shown(name)} ${checked.reason}`)
  }
  return { kind: 'file', path: directory === '' ? checked.path : `${directory}/${checked.path}` }
}

function overrideFileName({ name, namespace }: WriteBackApplication, settings: WriteBackSettings): string {
  const isAtHome = namespace === settings.controlPlaneNamespace || namespace === ''
  const instance = isAtHome ? name : `${namespace}_${name}`
  return `.${settings.overrideFilePrefix}-source-${instance.toLowerCase()}.yaml`
}

const generatePaths = 'argocd.argoproj.io/manifest-generate-paths'

/** With this annotation the delivery controller passes over commits that touch none of the paths. */
function generatePathWarnings({ annotations, sources }: WriteBackApplication, file: string): readonly string[] {
  const list = annotations.get(generatePaths)
  if (list === undefined || list.trim() === '') return []
  const paths = list
    .split(';')
    .map((path) => path.trim())
    .filter((path) => path !== '')
  const covers = paths.some((path) =>
    path.startsWith('/') ? isCovered(file, path) : sources.some((source) => isCovered(file, `${source.path}/${path}`)),
  )
  return covers ? [] : [`the annotation ${generatePaths} does not cover ${file}: its commit may go unnoticed`]
}

/** A pattern counts by what stands before its first wildcard: this only decides on a warning. */
function isCovered(file: string, path: string): boolean {
  const parts: string[] = []
  for (const part of path.split('/').filter((part) => part !== '' && part !== '.')) {
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  const directory = parts.join('/')
  const wildcard = directory.search(/[*?[]/)
  return (
    directory === '' ||
    file === directory ||
    file.startsWith(`${directory}/`) ||
    (wildcard >= 0 && file.startsWith(directory.slice(0, wildcard)))
  )
}

function shown(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 63)}…` : text)
}
