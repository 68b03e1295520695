import { distance } from 'fastest-levenshtein'
import { quote } from '../../../contract/fields.ts'
import type { Image } from '../../../contract/task.ts'
import type { FileKind } from '../edit/editors.ts'
import type { OverrideEntry } from '../edit/file-edit.ts'
import { isTag, kustomizeImage } from '../edit/kustomize-image.ts'
import type { PlannedEntry } from '../edit/planned-entry.ts'
import type { WriteBackApplication } from './application-source.ts'
import { chooseTransport, credentialHost } from './choose-transport.ts'
import { type CommitTask, commitMessage } from './commit-message.ts'
import { fileTarget } from './file-target.ts'
import { overrideTarget } from './override-target.ts'
import { type ApplicationAnnotations, type ManagedImage, parseAnnotations } from './parse-annotations.ts'
import { isAllowedRepository, parseRepositoryAddress, type RepositoryAddress } from './repository-address.ts'
import { manifestPathWarnings } from './repository-path.ts'
import { type RejectedWriteBack, refused } from './write-back-outcome.ts'
import type { WriteBackSettings } from './write-back-settings.ts'
import {
  addressNotAllowed,
  type WriteTarget,
  writeTargetByAnnotations,
  writeTargetByRef,
  writeTargetBySource,
} from './write-target.ts'

/** Which tag of which image goes where. Stored with the pending write, so it holds plain data only. */
export type WriteBackPlan = {
  readonly app: string
  /** As the application spells it. */
  readonly repository: string
  /** The same repository, over a protocol for which there is a credential. */
  readonly address: string
  /** `HEAD`: the remote's default branch. */
  readonly branch: string
  /** From the root of the repository. */
  readonly file: string
  /** What the file is. */
  readonly tool: FileKind
  readonly entries: readonly PlannedEntry[]
  /** Those of the source itself: a list in the override file replaces them, so it has to repeat them. */
  readonly sourceEntries: readonly OverrideEntry[]
  /** Override files that Argo CD reads besides, from the root of the repository. */
  readonly filesBeside?: readonly string[]
  readonly message: string
  /** Of a rollback: what its entries must have now, as the failed task set them. */
  readonly expected?: readonly { readonly name: string; readonly value: string }[]
}

export type WriteBackDecision =
  | {
      readonly kind: 'write'
      readonly plan: WriteBackPlan
      readonly warnings: readonly string[]
      /** Why COMMIT_MESSAGE_FORMAT gave no message. */
      readonly messageFailure?: Error | undefined
    }
  /** Only watched. `note` is the first line of a later time-out; '' where nothing needs saying. */
  | {
      readonly kind: 'monitor'
      readonly why: 'not_managed' | 'no_credential' | 'no_alias'
      readonly note: string
    }
  | RejectedWriteBack

/** A task, as far as a write-back reads it. */
export type WriteBackTask = CommitTask & { readonly mayWrite: boolean }

/** Decides whether a task's tags are committed, and where (spec 2.6). */
export function planWriteBack(
  task: WriteBackTask,
  application: WriteBackApplication,
  settings: WriteBackSettings,
): WriteBackDecision {
  const annotations = parseAnnotations(application.annotations, settings.annotationPrefixes)
  const monitored = whyOnlyMonitored(task, annotations)
  if (monitored) return monitored
  if (annotations.issues.length > 0) return refused('annotation_invalid', annotations.issues.join('; '))
  const planned = entriesOf(task.images, annotations)
  if (planned.kind === 'refused') return planned
  if (planned.kind === 'none') return noAlias(task, application, annotations, settings)
  const place = placeOf(application, annotations)
  if (place.kind === 'refused') return place
  const { writeBackTarget: target } = annotations
  const file =
    target.kind === 'override'
      ? overrideTarget(place, planned.tool, application, annotations, settings)
      : fileTarget(target, place, planned.entries, application, settings)
  if (file.kind === 'refused') return file
  const access = checkAccess(place.repository, application.isMultiSource, settings)
  if (access.kind === 'refused') return access
  const message = commitMessage(task, settings)
  return {
    kind: 'write',
    plan: {
      app: task.app,
      repository: access.spelled.text,
      address: access.address.text,
      branch: place.branch,
      file: file.path,
      tool: planned.tool,
      entries: planned.entries,
      sourceEntries: file.sourceEntries,
      filesBeside: file.beside,
      message: message.text,
    },
    messageFailure: message.failure,
    warnings: [
      ...(message.failure ? [`COMMIT_MESSAGE_FORMAT failed, default message used: ${message.failure.message}`] : []),
      ...file.warnings,
      ...manifestPathWarnings(application, file.path),
    ],
  }
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

function noAlias(
  { images }: WriteBackTask,
  application: WriteBackApplication,
  { managedImages }: ApplicationAnnotations,
  { annotationPrefixes }: WriteBackSettings,
): WriteBackDecision {
  const names = images.map(({ image }) => image).join(', ')
  const managed = annotationPrefixes.map((prefix) => `${prefix}managed-images`)
  const annotation = managed.find((name) => application.annotations.has(name)) ?? managed[0]
  const nearest = findNearestAlias(images[0]?.image ?? '', managedImages)
  const hint = nearest === undefined ? '' : `; the nearest is ${nearest.alias}=${nearest.image}`
  const note = `nothing was committed: the annotation ${annotation} has no alias for ${names}${hint}`
  return { kind: 'monitor', why: 'no_alias', note }
}

/** By the last part of their names, which most often is what was meant. */
function findNearestAlias(image: string, managed: readonly ManagedImage[]): ManagedImage | undefined {
  const lastPart = (name: string) => name.slice(name.lastIndexOf('/') + 1)
  const edits = (one: ManagedImage) => distance(lastPart(one.image), lastPart(image))
  return managed.toSorted((a, b) => edits(a) - edits(b))[0]
}

function placeOf(
  application: WriteBackApplication,
  annotations: ApplicationAnnotations,
): WriteTarget | RejectedWriteBack {
  const { writeBackTarget: target } = annotations
  if (target.kind !== 'override' && target.path.startsWith('$')) return writeTargetByRef(application, target.path)
  return application.isMultiSource
    ? writeTargetByAnnotations(application, annotations)
    : writeTargetBySource(application.sources[0])
}

type Planned =
  | { readonly kind: 'entries'; readonly tool: FileKind; readonly entries: readonly PlannedEntry[] }
  | { readonly kind: 'none' }
  | RejectedWriteBack

/** Every alias of every wanted image (spec 2.6, rule 3). Two aliases may share an entry only for the same tag. */
function entriesOf(images: readonly Image[], { managedImages }: ApplicationAnnotations): Planned {
  const byName = new Map<string, PlannedEntry>()
  const tools = new Set<FileKind>()
  for (const wanted of images) {
    for (const managed of managedImages.filter(({ image }) => image === wanted.image)) {
      const planned = entryOf(managed, wanted)
      if (planned.kind === 'refused') return planned
      const { tool, entry } = planned
      if ((byName.get(entry.name)?.value ?? entry.value) !== entry.value) {
        return refused('annotation_invalid', `two images of the task share the place ${entry.name}`)
      }
      byName.set(entry.name, entry)
      tools.add(tool)
    }
  }
  if (tools.size > 1) return refused('annotation_invalid', twoTools)
  const [tool] = tools
  return tool === undefined ? { kind: 'none' } : { kind: 'entries', tool, entries: [...byName.values()] }
}

const twoTools =
  'the images of the task have annotations for Helm and for Kustomize: one override file takes only one kind'

type PlannedAlias =
  | { readonly kind: 'entry'; readonly tool: FileKind; readonly entry: PlannedEntry }
  | RejectedWriteBack

function entryOf({ alias, tag: place }: ManagedImage, { image, tag }: Image): PlannedAlias {
  if (place.kind === 'invalid') return refused('annotation_invalid', place.reason)
  const { name, annotation } = place
  const { tool, suffix, isReference } = annotation
  if (annotation.names === 'image' && !isTag(tag)) {
    const reason = `annotation ${alias}.${suffix}: Kustomize cannot set the tag ${quote(tag)}`
    return refused('annotation_invalid', reason)
  }
  if (isReference) return { kind: 'entry', tool, entry: { name, value: `${image}:${tag}`, image, isReference } }
  const value = tool === 'kustomize' ? kustomizeImage(name, image, tag) : tag
  return { kind: 'entry', tool, entry: { name, value, image } }
}

type Access = { kind: 'access'; spelled: RepositoryAddress; address: RepositoryAddress } | RejectedWriteBack

function checkAccess(repository: string, isMultiSource: boolean, settings: WriteBackSettings): Access {
  const spelled = parseRepositoryAddress(repository)
  if (spelled === undefined) return addressNotAllowed(repository, isMultiSource)
  const address = chooseTransport(spelled, settings)
  if (!isAllowedRepository(address ?? spelled, settings.allowedRepos)) {
    const place = `${credentialHost(spelled)}${spelled.location.slice(spelled.host.length)}`
    return refused('git_refused', `repository address not allowed: ${place} is not in WRITE_BACK_ALLOWED_REPOS`)
  }
  if (address === undefined) return refused('setting_missing', missingSetting(spelled, settings))
  return { kind: 'access', spelled, address }
}

function missingSetting(address: RepositoryAddress, settings: WriteBackSettings): string {
  if (address.protocol === 'https') return `GIT_CREDENTIALS has no entry for ${credentialHost(address)}`
  if (settings.sshKeyPath === undefined)
    return `SSH_KEY_PATH is not set, so nothing can be committed to ${address.host}`
  return `SSH_KNOWN_HOSTS is not set, so the host key of ${address.host} cannot be checked`
}
