import { oneLine } from '../fields.ts'
import { repositoryOf } from '../image-name.ts'
import type { TaskRecord } from '../task.ts'
import { renderBlame, renderRole, renderSentence } from './render-diagnosis.ts'

/** What can be told of a task. `recovered`: the first success of an application after a failure, in place of `succeeded`. */
export const notificationEvents = ['started', 'succeeded', 'recovered', 'failed', 'aborted', 'cancelled'] as const
export type NotificationEvent = (typeof notificationEvents)[number]

/** Texts in here are plain: each kind of target escapes them in its own way. */
type NotificationDetails = {
  /** `1.1.0 → 1.2.0` */
  readonly change: string | undefined
  readonly environment: string | undefined
  /** What the headline does not say of what broke, in the words of Kubernetes, Argo CD or the Git host. */
  readonly culprit: string | undefined
  /** `1.1.0 still serves: 2 of 2 Pods ready` */
  readonly oldVersion: string | undefined
  readonly author: string
  /** Undefined of a deployment that goes on. */
  readonly seconds: number | undefined
  readonly nextSteps: string[]
  readonly links: { title: string; url: string }[]
  readonly podLog: string[] | undefined
}

const maxHeadlineLength = 300
/** Of each name if the whole line does not fit. */
const maxNameLength = 40
/** A diagnosis has a headline of at most 120 characters; the reason of an older record may be longer. */
const maxCauseLength = 140
const maxSteps = 3
const maxLogLines = 20
const maxListedImages = 3
const maxLineLength = 600

const wordsOf: Readonly<Record<NotificationEvent, { sign: string; verb: string; place: string; end?: string }>> = {
  started: { sign: '▷', verb: 'is being deployed', place: 'to' },
  succeeded: { sign: '✓', verb: 'deployed', place: 'to' },
  recovered: { sign: '✓', verb: 'deployed', place: 'to', end: ' after a failure' },
  failed: { sign: '✕', verb: 'failed', place: 'in' },
  aborted: { sign: '✕', verb: 'aborted', place: 'in' },
  cancelled: { sign: '–', verb: 'cancelled', place: 'in' },
}

const isBad = (event: NotificationEvent) => event === 'failed' || event === 'aborted' || event === 'cancelled'

/**
 * One line of at most 300 characters:
 * `✕ shop 1.2.0 failed in production: Container web crashes on start (exit code 1) · 1.1.0 still serves · by ada · 48 s`.
 * Names are shortened first where there is no room; then the duration, the author and the old version are left out.
 */
export function notificationHeadline(event: NotificationEvent, task: TaskRecord): string {
  const { sign, verb, place, end = '' } = wordsOf[event]
  const line = (maxName: number, left: readonly string[]) => {
    const name = (text: string) => cut(oneLine(text), maxName)
    const environment = task.environment === undefined ? '' : ` ${place} ${name(task.environment)}`
    const cause = causeOfEnd(event, task, name)
    const deployed = `${name(task.app)} ${versionOf(task, name)}${task.is_rollback === true ? ' (rollback)' : ''}`
    const facts = [
      `${sign} ${deployed} ${verb}${environment}${end}${cause === '' ? '' : `: ${cut(cause, maxCauseLength)}`}`,
      left.includes('old') ? servingText(event, task, name)?.short : undefined,
      left.includes('author') ? `by ${name(task.author)}` : undefined,
      left.includes('seconds') ? durationOf(event, task) : undefined,
    ]
    return facts.filter((fact) => fact !== undefined && fact !== '').join(' · ')
  }
  const whole = ['old', 'author', 'seconds']
  const lines = [
    () => line(Number.POSITIVE_INFINITY, whole),
    ...[whole, ['old', 'author'], ['old'], []].map((left) => () => line(maxNameLength, left)),
  ]
  for (const make of lines) {
    const made = make()
    if (made.length <= maxHeadlineLength) return made
  }
  return cut(line(maxNameLength, []), maxHeadlineLength)
}

/** What else a notification says; each text is on one line. */
export function notificationDetails(event: NotificationEvent, task: TaskRecord): NotificationDetails {
  const { environment, author, created, updated, diagnosis, pod_log: log } = task
  const name = (text: string) => oneLine(text)
  return {
    change: changeOf(task),
    environment: environment === undefined ? undefined : oneLine(environment),
    culprit: culpritOf(event, task),
    oldVersion: servingText(event, task, name)?.counted,
    author: oneLine(author),
    seconds: event === 'started' ? undefined : Math.max(0, updated - created),
    nextSteps: isBad(event)
      ? (diagnosis?.next_steps ?? [])
          .slice(0, maxSteps)
          .map(({ actor, text }) => boundedLine(`Next step (${renderRole(actor)}): ${text}`))
      : [],
    links: linksOf(task),
    podLog: log === undefined || !isBad(event) ? undefined : log.lines.slice(-maxLogLines).map(oneLine),
  }
}

/** What ended the deployment, behind the colon of the headline. */
function causeOfEnd(event: NotificationEvent, task: TaskRecord, name: (text: string) => string): string {
  if (!isBad(event)) return ''
  const { diagnosis, newest_since: newest, cause = diagnosis?.cause } = task
  const { superseded_by: newer, cancelled_by: by, headline } = diagnosis ?? {}
  if (newer?.commit !== undefined) return `superseded in Git${newer.tag === undefined ? '' : ` by ${name(newer.tag)}`}`
  if (newer !== undefined) {
    const tag = newest?.id === newer.task ? singleTag(newest?.images ?? []) : undefined
    return `superseded by ${tag === undefined ? 'a newer deployment' : name(tag)}`
  }
  if (cause === 'cancelled') return `on request${by?.name === undefined ? '' : ` of ${name(by.name)}`}`
  return headline === undefined ? sentenceOf(task) : withReasonInBrackets(oneLine(headline))
}

/** `Container web crashes on start: exit code 1` follows a colon, and one line has one colon. */
function withReasonInBrackets(headline: string): string {
  const at = headline.indexOf(': ')
  return at < 0 ? headline : `${headline.slice(0, at)} (${headline.slice(at + 2)})`
}

function sentenceOf({ status, status_reason: reason, headline, diagnosis, updated }: TaskRecord): string {
  const [first = ''] = (reason ?? headline ?? '').split('\n')
  return boundedLine(diagnosis === undefined ? first : renderSentence(status, diagnosis, updated))
}

function culpritOf(event: NotificationEvent, task: TaskRecord): string | undefined {
  if (!isBad(event)) return undefined
  const { diagnosis } = task
  const blame = diagnosis === undefined ? '' : boundedLine(renderBlame(diagnosis)).replace(/^(?:Culprit|Message): /, '')
  if (blame !== '') return blame
  const sentence = sentenceOf(task)
  return sentence === '' || sentence === diagnosis?.headline ? undefined : sentence
}

/** Whether the version before still serves, as far as its Pods show. */
function servingText(
  event: NotificationEvent,
  task: TaskRecord,
  name: (text: string) => string,
): { short: string; counted: string } | undefined {
  if (!isBad(event)) return undefined
  const { diagnosis, cause } = task
  const isAborted = cause === 'rollout_aborted' || cause === 'analysis_failed'
  const tags = new Set(changedImages(task).map(({ from }) => from))
  const [tag] = tags.size === 1 ? tags : []
  const version = tag === undefined ? `the ${isAborted || cause === 'suspended' ? 'stable' : 'old'} version` : name(tag)
  if (diagnosis?.impact === undefined)
    return isAborted ? { short: `${version} serves`, counted: `${version} serves` } : undefined
  const { old_pods_ready: ready, old_pods: all } = diagnosis.impact
  if (all === 0) return { short: `no Pod of ${version} is left`, counted: `no Pod of ${version} is left` }
  const short = `${version} ${ready === 0 ? 'does not serve' : 'still serves'}`
  return { short, counted: `${short}: ${ready} of ${all} Pod${all === 1 ? '' : 's'} ready` }
}

type ChangedImage = { readonly image: string; readonly tag: string; readonly from: string | undefined }

/** The images with another tag than before; all of them where nothing is known of before, or none changes. */
function changedImages({ images, previous }: TaskRecord): readonly ChangedImage[] {
  const before = new Map(previous?.images.map(({ image, tag }) => [repositoryOf(image), tag] as const))
  const all = images.map(({ image, tag }) => ({ image, tag, from: before.get(repositoryOf(image)) }))
  const changed = all.filter(({ tag, from }) => from !== tag)
  return changed.length === 0 ? all : changed
}

function singleTag(images: readonly { readonly tag: string }[]): string | undefined {
  const tags = new Set(images.map(({ tag }) => tag))
  return tags.size === 1 ? [...tags][0] : undefined
}

/** `1.2.0`, or `1.2.0 and 2 more images` */
function versionOf(task: TaskRecord, name: (text: string) => string): string {
  const changed = changedImages(task)
  const tag = name(changed[0]?.tag ?? '')
  if (singleTag(changed) !== undefined) return tag
  return `${tag} and ${changed.length - 1} more image${changed.length === 2 ? '' : 's'}`
}

/** `1.1.0 → 1.2.0`, or with the names of several images that change in different ways. */
function changeOf(task: TaskRecord): string | undefined {
  const changed = changedImages(task)
  const changes = new Set(changed.map(versionChange))
  const [only] = changes
  if (only === undefined) return undefined
  const more = changed.length === task.images.length ? '' : `, ${changed.length} of ${task.images.length} images`
  if (changes.size === 1) return boundedLine(`${only}${more}`)
  const listed = changed.slice(0, maxListedImages).map((one) => `${baseName(one.image)} ${versionChange(one)}`)
  const rest = changed.length > maxListedImages ? ` and ${changed.length - maxListedImages} more` : ''
  return boundedLine(`${listed.join(', ')}${rest}`)
}

const versionChange = ({ tag, from }: ChangedImage) => (from === undefined || from === tag ? tag : `${from} → ${tag}`)
const baseName = (image: string) => image.slice(image.lastIndexOf('/') + 1)

function linksOf({ app_url: application, commit_url: commit, compare_url: changes, diagnosis }: TaskRecord) {
  const found = [
    { title: 'Argo CD', url: application },
    ...(diagnosis?.links ?? []).map(({ url }) => ({ title: 'Application', url })),
    { title: 'Changes', url: changes },
    { title: 'Commit', url: commit },
  ]
  const byUrl = new Map<string, { title: string; url: string }>()
  for (const { title, url } of found) if (url !== undefined && !byUrl.has(url)) byUrl.set(url, { title, url })
  return [...byUrl.values()]
}

/** `48 s`, `2 min 5 s`, `1 h 2 min` */
function durationOf(event: NotificationEvent, { created, updated }: TaskRecord): string | undefined {
  if (event === 'started') return undefined
  const seconds = Math.max(0, Math.round(updated - created))
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 100 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The beginning of a text, without half a character at its end. */
function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  return `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

const boundedLine = (text: string) => cut(oneLine(text), maxLineLength)
