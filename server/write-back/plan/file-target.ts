import path from 'node:path'
import { quote } from '../../../contract/fields.ts'
import { inlineValueNames } from '../edit/helm-values.ts'
import { nameOfKustomizeImage } from '../edit/kustomize-image.ts'
import type { PlannedEntry } from '../edit/planned-entry.ts'
import { type ApplicationSource, typeOf, type WriteBackApplication } from './application-source.ts'
import { overrideFileNames, sharedFile } from './override-target.ts'
import { isSameRepository } from './repository-address.ts'
import {
  type CheckedPath,
  checkDirectory,
  checkFileName,
  hiddenDirectoryFault,
  inDirectory,
} from './repository-path.ts'
import { type RejectedWriteBack, refused } from './write-back-outcome.ts'
import type { WriteBackSettings } from './write-back-settings.ts'
import type { FileTarget } from './write-back-target.ts'
import { directoryOf, type PlannedFile, type WriteTarget } from './write-target.ts'

/**
 * The file that write-back-target names, where it belongs to the application: it lies below the path of a source or is one
 * of its values files, and nothing that wins over it has the same places.
 */
export function fileTarget(
  target: FileTarget,
  place: WriteTarget,
  entries: readonly PlannedEntry[],
  application: WriteBackApplication,
  settings: WriteBackSettings,
): PlannedFile | RejectedWriteBack {
  const invalid = (reason: string) =>
    refused('annotation_invalid', `write-back-target ${target.kind}: ${quote(target.path)} ${reason}`)
  const checked = filePath(target, place.directory)
  if (checked.kind === 'invalid') return invalid(checked.reason)
  const file = checked.path
  const rendered = place.followers.filter((source) => source.ref === undefined || source.path !== '')
  const directories = rendered.map((source) => directoryOf(source) ?? '')
  const hidden = hiddenDirectoryFault(directoryName(file), directories)
  if (hidden !== undefined) return invalid(hidden)
  const naming = application.sources.filter((source) => hasValueFile(source, file, place, application))
  if (naming.length === 0 && !rendered.some((source) => isInside(file, directoryOf(source)))) {
    return invalid(`is ${file}, which is neither below the path of a source nor among its helm.valueFiles`)
  }
  const readers = readersOf(target, file, rendered, naming)
  const fault = otherType(target, readers, application) ?? winnerInApplication(target, readers, entries)
  if (fault !== undefined) return invalid(fault)
  const overrideNames = new Set([sharedFile, ...overrideFileNames(application, settings)])
  const beside = place.followers
    .filter((source) => readers.includes(source))
    .flatMap((source) => [...overrideNames].map((name) => inDirectory(directoryOf(source) ?? '', name)))
  const isUnread = target.kind === 'helmvalues' && readers.length === 0
  const warnings = isUnread ? [`no source of the application has ${file} among its helm.valueFiles`] : []
  return { kind: 'file', path: file, sourceEntries: [], beside, warnings }
}

const directoryName = (file: string): string => path.posix.dirname(file).replace(/^\.$/, '')

/** From the root of the repository. */
function filePath({ kind, path: spelled }: FileTarget, from: string): CheckedPath {
  const below = /^\$[^/]*(.*)$/s.exec(spelled)?.[1] ?? spelled
  const isFromRoot = below.startsWith('/') || spelled.startsWith('$')
  const whole = `${isFromRoot ? '' : from}/${below}${kind === 'kustomization' ? '/kustomization.yaml' : ''}`
  const directory = checkDirectory(path.posix.dirname(whole))
  if (directory.kind === 'invalid') return directory
  const name = checkFileName(whole.slice(whole.lastIndexOf('/') + 1))
  if (name.kind === 'invalid') return { kind: 'invalid', reason: `has a file name that ${name.reason}` }
  return { kind: 'path', path: inDirectory(directory.path, name.path) }
}

const isInside = (file: string, directory: string | undefined): boolean =>
  directory !== undefined && (directory === '' || file.startsWith(`${directory}/`))

/** The sources whose manifests are made from the file, as far as that can be known. */
function readersOf(
  { kind }: FileTarget,
  file: string,
  rendered: readonly ApplicationSource[],
  naming: readonly ApplicationSource[],
): readonly ApplicationSource[] {
  if (kind === 'yaml') return []
  const ofDirectory = rendered.filter((source) => directoryOf(source) === directoryName(file))
  if (kind === 'kustomization') return ofDirectory
  // a chart reads its own values.yaml without being told
  return [...new Set([...naming, ...(path.posix.basename(file) === 'values.yaml' ? ofDirectory : [])])]
}

/** Whether a source has the file of the branch among its values files, by way of another's `ref` or in its own tree. */
function hasValueFile(
  source: ApplicationSource,
  file: string,
  { repository, followers }: WriteTarget,
  { sources }: WriteBackApplication,
): boolean {
  return source.helmValueFiles.some((spelled) => {
    const [, ref, below] = /^\$([^/]+)(\/.*)$/.exec(spelled) ?? []
    const owner = ref === undefined ? source : sources.find((one) => one.ref === ref)
    if (owner === undefined || !followers.includes(owner) || !isSameRepository(owner.repository, repository))
      return false
    const whole = below ?? (spelled.startsWith('/') ? spelled : `/${source.path}/${spelled}`)
    return path.posix.normalize(whole) === `/${file}`
  })
}

/** What reads the file must be of the type that the target is for. */
function otherType(
  { kind }: FileTarget,
  readers: readonly ApplicationSource[],
  application: WriteBackApplication,
): string | undefined {
  const needed = kind === 'helmvalues' ? 'Helm' : 'Kustomize'
  const types = readers.map((source) => typeOf(source, application))
  const other = types.find((type) => type !== undefined && type !== needed)
  return other === undefined ? undefined : `is read by a source of type ${other}, not ${needed}`
}

function winnerInApplication(
  { kind }: FileTarget,
  readers: readonly ApplicationSource[],
  entries: readonly PlannedEntry[],
): string | undefined {
  for (const source of readers) {
    const winners = kind === 'kustomization' ? kustomizeWinners(source) : helmWinners(source)
    for (const [where, names] of Object.entries(winners)) {
      const found = entries.find(({ name }) => names.includes(name))
      if (found)
        return `has no effect: ${found.name} stands in ${where} of the application, which wins. Remove it there`
    }
  }
  return undefined
}

type Winners = Readonly<Record<string, readonly string[]>>

const kustomizeWinners = ({ kustomizeImages }: ApplicationSource): Winners => ({
  'kustomize.images': kustomizeImages.map(nameOfKustomizeImage),
})

const helmWinners = ({ helmParameters, helmInlineValues: { object, text } }: ApplicationSource): Winners => ({
  'helm.parameters': helmParameters.map(({ name }) => name),
  'helm.valuesObject': inlineValueNames(object, undefined),
  'helm.values': inlineValueNames(undefined, text),
})
