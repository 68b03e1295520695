import { line } from '../../../contract/field-schemas.ts'
import { quote } from '../../../contract/fields.ts'
import { type NotificationEvent, notificationEvents } from '../../../contract/text/notification-text.ts'
import { durationForm, parseDuration } from '../../../contract/text/parse-duration.ts'
import { findSimilarName } from '../../settings/find-similar-name.ts'
import { isImageName } from '../edit/kustomize-image.ts'
import { parseValuePath } from '../edit/value-path.ts'
import {
  type PlaceAnnotation,
  placeAnnotations,
  placeSuffixes,
  readTarget,
  type WriteBackTarget,
} from './write-back-target.ts'

/** An alias of an image and where its annotation puts the tag, or what is wrong with that annotation. */
export type ManagedImage = {
  readonly alias: string
  readonly image: string
  readonly tag:
    | { readonly kind: 'place'; readonly annotation: PlaceAnnotation; readonly name: string }
    | { readonly kind: 'invalid'; readonly reason: string }
}

/** Everything that an application's annotations say to the service. */
export type ApplicationAnnotations = {
  readonly managed: boolean
  readonly managedImages: readonly ManagedImage[]
  /** What makes a write-back impossible. A task that is only watched need not care. */
  readonly issues: readonly string[]
  /** What was ignored, in words for the timeline. */
  readonly notes: readonly string[]
  readonly writeBackRepository: string | undefined
  readonly writeBackBranch: string | undefined
  readonly writeBackPath: string | undefined
  readonly writeBackFilename: string | undefined
  readonly writeBackTarget: WriteBackTarget
  readonly fireAndForget: boolean
  readonly skipImageValidation: boolean
  /** undefined: the setting decides. */
  readonly acceptSuspended: boolean | undefined
  /** undefined: the setting decides. */
  readonly badPodGraceMs: number | undefined
  /** Of its deployments; undefined: the configuration file decides. */
  readonly environment: string | undefined
  /** Targets that the application adds to those of the routes. */
  readonly notify: TargetsOfApplication | undefined
  /** What follows the failure of its deployments; undefined: the setting decides. */
  readonly onFailure: 'rollback' | 'none' | undefined
}

/** `events` undefined: all of them. */
type TargetsOfApplication = {
  readonly targets: readonly string[]
  readonly events: readonly NotificationEvent[] | undefined
}

const maxManagedImages = 200
const aliasGrammar = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/
const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])
const keyGrammar = /^(?:[A-Za-z0-9_/-]|\\\.)+$/
const pathGrammar = 'up to 20 names joined by dots, such as image.tag or list[0].tag, of letters, digits, _ - / and \\.'

/** Reads the annotations under the first of `prefixes` that has each. Never throws: whatever is wrong is in the answer. */
export function parseAnnotations(
  annotations: ReadonlyMap<string, string>,
  prefixes: readonly string[],
): ApplicationAnnotations {
  const read = (name: string) => prefixes.map((prefix) => annotations.get(prefix + name)).find((v) => v !== undefined)
  const notes = unknownAnnotations(annotations.keys(), prefixes)
  const flag = (name: string) => readFlag(name, read(name), notes)
  const { target, issue } = readTarget(read('write-back-target'))
  const { images, issues } = readManagedImages(read('managed-images'), read, target)
  const filename = read('write-back-filename')
  const targetIssues =
    issue ?? (filename !== undefined && target.kind !== 'override' ? filenameBesideTarget : undefined)
  return {
    managed: flag('managed') === true,
    managedImages: images,
    issues: [...(targetIssues === undefined ? [] : [targetIssues]), ...issues],
    writeBackRepository: read('write-back-repo'),
    writeBackBranch: read('write-back-branch'),
    writeBackPath: read('write-back-path'),
    writeBackFilename: filename,
    writeBackTarget: target,
    fireAndForget: flag('fire-and-forget') === true,
    skipImageValidation: flag('skip-image-validation') === true,
    acceptSuspended: flag('accept-suspended'),
    badPodGraceMs: readGrace(read('bad-pod-grace'), notes),
    environment: readEnvironment(read('environment'), notes),
    notify: readNotify(read('notify'), read('notify-on'), notes),
    onFailure: readOnFailure(read('on-failure'), notes),
    notes,
  }
}

const filenameBesideTarget = 'write-back-filename names an override file, so it may not stand beside write-back-target'

const knownNames = [
  'managed',
  'managed-images',
  'write-back-repo',
  'write-back-branch',
  'write-back-path',
  'write-back-filename',
  'write-back-target',
  'fire-and-forget',
  'skip-image-validation',
  'accept-suspended',
  'bad-pod-grace',
  'environment',
  'notify',
  'notify-on',
  'on-failure',
]
/** Limits the notes about one application: the first ones are enough to find the mistake. */
const maxUnknown = 10

function unknownAnnotations(names: Iterable<string>, prefixes: readonly string[]): string[] {
  const unknown = [...names].filter((full) => {
    const prefix = prefixes.find((one) => full.startsWith(one))
    const name = full.slice(prefix?.length)
    return prefix !== undefined && !knownNames.includes(name) && !isOfAlias(name)
  })
  return unknown.slice(0, maxUnknown).map((full) => {
    const likely = findSimilarName(full.slice(full.indexOf('/') + 1), knownNames)
    return `unknown annotation ${quote(full)} is ignored${likely === undefined ? '' : `: did you mean ${likely}?`}`
  })
}

const isOfAlias = (name: string) => placeSuffixes.some((suffix) => name.endsWith(`.${suffix}`))

/** Only "true" switches on. "false" and "" are quiet; any other value is ignored with a note. */
function readFlag(name: string, value: string | undefined, notes: string[]): boolean | undefined {
  if (value === undefined || value === '') return undefined
  if (value === 'true') return true
  if (value !== 'false') notes.push(`annotation ${name} is ${quote(value)} and is ignored: must be "true" or "false"`)
  return value === 'false' ? false : undefined
}

function readEnvironment(value: string | undefined, notes: string[]): string | undefined {
  if (value === undefined || line(255).safeParse(value).success) return value
  notes.push(`annotation environment is ${quote(value)} and is ignored: must be 1 to 255 characters on one line`)
  return undefined
}

function readOnFailure(value: string | undefined, notes: string[]): 'rollback' | 'none' | undefined {
  if (value === undefined || value === 'rollback' || value === 'none') return value
  notes.push(`annotation on-failure is ${quote(value)} and is ignored: must be "rollback" or "none"`)
  return undefined
}

const maxTargets = 20

/** Which targets there are, only the configuration file knows. */
function readNotify(
  names: string | undefined,
  wanted: string | undefined,
  notes: string[],
): ApplicationAnnotations['notify'] {
  const targets = entriesOf(names)
  const listed = entriesOf(wanted)
  if (targets.length === 0) {
    if (listed.length > 0) notes.push('annotation notify-on is ignored: annotation notify names no target')
    return undefined
  }
  if (targets.length > maxTargets) {
    notes.push(`annotation notify is ignored: names ${targets.length} targets, at most ${maxTargets}`)
    return undefined
  }
  for (const name of listed.filter((one) => !isEvent(one)))
    notes.push(`annotation notify-on: ${quote(name)} is ignored: must be one of ${notificationEvents.join(', ')}`)
  return { targets, events: listed.length === 0 ? undefined : listed.filter(isEvent) }
}

const entriesOf = (list = '') => [
  ...new Set(
    list
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
  ),
]
const isEvent = (name: string): name is NotificationEvent => notificationEvents.some((event) => event === name)

/** Milliseconds, in the form that settings have too (decision 0018). */
function readGrace(value: string | undefined, notes: string[]): number | undefined {
  if (value === undefined) return undefined
  const graceMs = parseDuration(value.trim())
  if (graceMs === undefined) notes.push(`annotation bad-pod-grace is ${quote(value)}: must be ${durationForm}`)
  return graceMs
}

type ReadAnnotation = (name: string) => string | undefined

function readManagedImages(
  list: string | undefined,
  read: ReadAnnotation,
  target: WriteBackTarget,
): { images: readonly ManagedImage[]; issues: readonly string[] } {
  if (list === undefined) return { images: [], issues: [] }
  const entries = list.split(',')
  if (entries.length > maxManagedImages) {
    return { images: [], issues: [`managed-images: has ${entries.length} entries, at most ${maxManagedImages}`] }
  }
  const images: ManagedImage[] = []
  const issues: string[] = []
  const seen = new Set<string>()
  for (const entry of entries) {
    const parsed = readEntry(entry, seen)
    if (parsed.kind === 'invalid') issues.push(`managed-images: entry ${quote(entry)} ${parsed.reason}`)
    else images.push({ ...parsed.entry, tag: readTagPlace(parsed.entry, read, target) })
  }
  return { images, issues }
}

type Entry = { readonly alias: string; readonly image: string }
type EntryRead = { kind: 'entry'; entry: Entry } | { kind: 'invalid'; reason: string }

/** The first `=` splits; blanks around both parts do not count. */
function readEntry(entry: string, seen: Set<string>): EntryRead {
  const at = entry.indexOf('=')
  if (at < 0) return { kind: 'invalid', reason: 'must be <alias>=<image>' }
  const alias = entry.slice(0, at).trim()
  const image = entry.slice(at + 1).trim()
  if (alias === '') return { kind: 'invalid', reason: 'has no alias' }
  if (!isAlias(alias)) {
    return { kind: 'invalid', reason: 'has an invalid alias: must be 1 to 63 letters, digits, dots, _ or -' }
  }
  if (image === '') return { kind: 'invalid', reason: 'has no image' }
  if (/[\s\p{Cc}]/u.test(image) || image.length > 255) {
    return { kind: 'invalid', reason: 'has an image name with blanks or of more than 255 characters' }
  }
  if (seen.has(alias)) return { kind: 'invalid', reason: `repeats the alias ${quote(alias)}` }
  seen.add(alias)
  return { kind: 'entry', entry: { alias, image } }
}

function isAlias(alias: string): boolean {
  return aliasGrammar.test(alias) && !alias.includes('..') && !reservedNames.has(alias)
}

/** Exactly one annotation, and one that the target takes. */
function readTagPlace({ alias, image }: Entry, read: ReadAnnotation, target: WriteBackTarget): ManagedImage['tag'] {
  const allowed = placeAnnotations[target.kind]
  const wanted = allowed.map(({ suffix }) => `${alias}.${suffix}`).join(' or ')
  const [suffix, ...others] = placeSuffixes.filter((one) => read(`${alias}.${one}`) !== undefined)
  if (suffix === undefined) return invalid(`missing annotation ${wanted} for alias ${quote(alias)}`)
  if (others.length > 0) {
    const all = [suffix, ...others].map((one) => `${alias}.${one}`).join(' and ')
    return invalid(`alias ${quote(alias)} has the annotations ${all}: only one of them is allowed`)
  }
  const annotation = allowed.find((one) => one.suffix === suffix)
  const name = `${alias}.${suffix}`
  if (annotation === undefined) {
    const needed =
      target.kind === 'override' ? 'needs a write-back-target' : `does not fit write-back-target ${target.kind}`
    return invalid(`annotation ${name} ${needed}: ${wanted} is read`)
  }
  const value = read(name)?.trim() ?? ''
  return annotation.names === 'image'
    ? readImageName(annotation, name, value, image)
    : readPath(annotation, name, value)
}

const invalid = (reason: string) => ({ kind: 'invalid', reason }) as const

function readImageName(annotation: PlaceAnnotation, full: string, name: string, image: string): ManagedImage['tag'] {
  if (!isImageName(name)) {
    return invalid(
      `annotation ${full} is ${quote(name)}: must be the name of an image as the kustomization has it, without a tag`,
    )
  }
  if (!isImageName(image))
    return invalid(`annotation ${full} is for ${quote(image)}, which cannot be the name of an image`)
  return { kind: 'place', annotation, name }
}

function readPath(annotation: PlaceAnnotation, full: string, path: string): ManagedImage['tag'] {
  if (isPath(path, annotation.tool !== 'helm')) return { kind: 'place', annotation, name: path }
  const inFile = annotation.tool === 'helm' ? '' : ', [name=value] picks from a list'
  const what = annotation.suffix.startsWith('helm.') ? 'a Helm value path' : 'a path in the file'
  return invalid(`annotation ${full} is ${quote(path)}: ${what} is ${pathGrammar}${inFile}`)
}

/** Helm itself cannot pick from a list by a value. */
function isPath(path: string, mayMatch: boolean): boolean {
  const steps = path.length > 512 ? undefined : parseValuePath(path)
  const keys = steps?.filter(({ kind }) => kind === 'key') ?? []
  return (
    steps !== undefined &&
    keys.length <= 20 &&
    steps.every((step) => {
      if (step.kind === 'key') return keyGrammar.test(step.text.replace(/^\./, '')) && !reservedNames.has(step.key)
      return step.kind === 'index' || (mayMatch && /^[ -~]+$/.test(step.value) && keyGrammar.test(step.key))
    })
  )
}
