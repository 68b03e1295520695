import { causeOf, causesOfCommit, isCause, type Role, selfExplaining } from '../causes.ts'
import { awaitedOf, firstUnmet, unmetOf } from '../conditions.ts'
import type { Condition, Culprit, Diagnosis, Evidence } from '../diagnosis.ts'
import { oneLine, shorten } from '../fields.ts'
import type { TaskStatus } from '../task-status.ts'
import { wordsOfCommit, wordsOfResource } from './plain-words.ts'
import { join, operationText, renderEvidence, seconds, unsaid } from './render-evidence.ts'

// Texts about a verdict, for status_reason, progress, pages, the timeline and the log. Times are Unix seconds, lengths characters.

/** What a task waits for, or how it ended, in one sentence. '' where nothing needs saying. */
export function renderSentence(status: TaskStatus, diagnosis: Diagnosis, atSeconds: number): string {
  if (status === 'in progress') return renderProgress(diagnosis)
  if (status === 'deployed') return notesOf(diagnosis).join('; ')
  if (diagnosis.superseded_by !== undefined) return renderSuperseded(diagnosis.superseded_by)
  const { headline } = diagnosis
  if (headline !== undefined) {
    const commit = isOfCommit(diagnosis.cause) ? undefined : diagnosis.evidence.find(isNotCommitted)
    return join('; ', [headline, commit?.text])
  }
  return join(': ', [headlineOf(status, diagnosis), reasonOf(diagnosis, atSeconds).text])
}

/**
 * The whole report of an ended task: what happened, whether the old version still serves, what to do, links, then the details.
 * At most 8 KiB, cut from the end, so never the next steps.
 */
export function renderReport(status: TaskStatus, diagnosis: Diagnosis, atSeconds: number): string {
  const sentence = renderSentence(status, diagnosis, atSeconds)
  if (status === 'deployed') return sentence
  const { cause, impact, next_steps: steps, links } = diagnosis
  const lines = [
    cause === undefined || status === 'cancelled' ? sentence : `${boundedLine(sentence)} [${cause}]`,
    boundedLine(renderBlame(diagnosis)),
    labelled('Impact: ', renderImpact(impact, cause)),
    ...steps.map(({ actor, text }, index) => `Next step ${index + 1} (${renderRole(actor)}): ${boundedLine(text)}`),
    ...links.map(({ kind, url }) => `Link (${kind}): ${boundedLine(url)}`),
    ...renderDetails(diagnosis, atSeconds).map(boundedLine),
  ]
  return cutToBytes(lines.filter((line) => line !== '').join('\n'))
}

const labelled = (label: string, text: string) => (text === '' ? '' : label + text)

/** The conditions that are not met, then what was found, a line each. What the first sentence says is not said again. */
function renderDetails(diagnosis: Diagnosis, atSeconds: number): readonly string[] {
  const { conditions, culprit, headline } = diagnosis
  const says = headline === undefined ? reasonOf(diagnosis, atSeconds).says : saidAbove(diagnosis)
  const unmet = firstUnmet(conditions) === undefined ? [] : unmetOf(conditions).filter((one) => !says.includes(one))
  const operations = new Set(unmet.map(({ found }) => found))
  const evidence = diagnosis.evidence.filter(
    (one) => !says.includes(one) && !(one.kind === 'operation' && operations.has(operationText(one))),
  )
  const unreachable = diagnosis.evidence.find((one) => one.kind === 'unreachable')?.message ?? ''
  const said = culprit?.message ?? (headline?.includes(unreachable) ? unreachable : '')
  return [
    ...unmet.map((one) => renderUnmet(one, atSeconds, said)),
    ...evidence.flatMap((one) => renderEvidence(one, atSeconds, said)),
  ].filter((line) => line !== '')
}

/**
 * Whether the version before still serves, as far as its Pods tell; in the past tense once another version was deployed. An
 * aborted Rollout goes back to the stable one.
 */
export function renderImpact(impact: Diagnosis['impact'], cause: Diagnosis['cause'], isPast = false): string {
  const isAborted = cause === 'rollout_aborted' || cause === 'analysis_failed'
  const version = `the ${isAborted || cause === 'suspended' ? 'stable' : 'old'} version`
  if (impact === undefined) return isAborted ? `${version} ${isPast ? 'served' : 'serves'}` : ''
  const { old_pods_ready: ready, old_pods: all } = impact
  if (all === 0) return `no Pod of ${version} ${isPast ? 'was' : 'is'} left`
  const [one, several] = isPast ? [' was', 's were'] : ['', 's']
  const pods = `${ready} of ${all} Pod${all === 1 ? one : several} ready`
  const serves = isPast ? ['did not serve', 'still served'] : ['does not serve', 'still serves']
  return `${version} ${serves[ready === 0 ? 0 : 1]}: ${pods}`
}

/** Who or what is to blame, and the message that decided. Of the application itself the message says enough. */
function renderCulprit({ kind, name, container, message }: Culprit): string {
  if (kind === 'Application') return message
  const who = container === undefined ? `${kind} ${name}` : `${kind} ${name}, container ${container}`
  return join(': ', [who, message])
}

/** Deciding message of Kubernetes, Argo CD or the Git host, where the headline does not say all of it. */
export function renderBlame({ headline, cause, culprit, evidence }: Diagnosis): string {
  if (headline === undefined || isSelfExplaining(cause)) return ''
  if (culprit === undefined) {
    const commit = evidence.find(isNotCommitted)
    const isSaid = commit === undefined || !isOfCommit(cause) || headline.includes(wordsOfCommit(commit.text))
    return isSaid ? '' : `Message: ${commit.text}`
  }
  const { kind, name, reason = '', message } = culprit
  const ofApplication = kind === 'Application'
  if (headline.includes(wordsOfResource(message)) && (ofApplication || headline.includes(name))) return ''
  const words = message.includes(reason) ? message : join(': ', [reason, message])
  return `${ofApplication ? 'Message' : 'Culprit'}: ${renderCulprit({ ...culprit, message: words })}`
}

const isNotCommitted = (one: Evidence) => one.kind === 'not_committed'

/** Why nothing was committed, where the first lines or the cause say it. */
const saidAbove = (diagnosis: Diagnosis): readonly Evidence[] => {
  const isAbove = !isOfCommit(diagnosis.cause) || isSelfExplaining(diagnosis.cause) || diagnosis.culprit === undefined
  return isAbove ? diagnosis.evidence.filter(isNotCommitted) : []
}

const isOfCommit = (cause: Diagnosis['cause']) => cause !== undefined && causesOfCommit.has(cause)

const isSelfExplaining = (cause: Diagnosis['cause']) => cause !== undefined && selfExplaining.has(cause)

/** `images: expected shop:2, found shop:1` */
function renderCondition({ name, state, expected, found }: Omit<Condition, 'since'>): string {
  const label = name.replaceAll('_', ' ')
  return state === 'met' ? label : join(': ', [label, renderExpectation({ expected, found })])
}

/** `expected shop:2, found shop:1` */
export const renderExpectation = ({ expected, found }: Pick<Condition, 'expected' | 'found'>): string =>
  join(', ', [expected && `expected ${expected}`, found && `found ${found}`])

/** Of a task whose application was not seen yet. */
export const firstProgress = 'looking for the application'

function renderProgress({ conditions, headline, cause, culprit, evidence }: Diagnosis): string {
  for (const one of evidence) {
    if (one.kind === 'unreachable') return `Argo CD is unreachable: ${one.message}`
    if (one.kind === 'commit_pending') return 'waiting for the commit to reach the Git host'
  }
  if (conditions.every(({ state }) => state === 'unknown')) return firstProgress
  if (headline !== undefined) return headline
  if (cause !== undefined && isCause(cause))
    return join(': ', [causeOf(cause).headline, culprit && renderCulprit(culprit)])
  const unmet = unmetOf(conditions)
  if (unmet.length === 0) return 'waiting for the final check'
  const [first] = unmet
  // Without the application nothing else can be known.
  if (first?.name === 'alive' && first.found === undefined) return `waiting for ${awaitedOf.alive}`
  return `waiting for ${unmet.map((one) => join(': ', [awaitedOf[one.name], renderExpectation(one)])).join('; ')}`
}

function headlineOf(status: TaskStatus, { cause }: Diagnosis): string {
  return cause !== undefined && isCause(cause) ? causeOf(cause).headline : status
}

/** Why a task ended, to stand behind its headline. '' where that says all. `renderWho` words the culprit. */
export function renderReason(diagnosis: Diagnosis, atSeconds: number, renderWho = renderCulprit): string {
  const { text } = reasonOf(diagnosis, atSeconds, renderWho)
  return diagnosis.headline?.includes(wordsOfResource(text)) ? '' : text
}

/** Why a task ended, and the parts of the diagnosis that say it. */
type Reason = { readonly text: string; readonly says: readonly (Condition | Evidence)[] }

function reasonOf(diagnosis: Diagnosis, atSeconds: number, renderWho = renderCulprit): Reason {
  const main = mainReasonOf(diagnosis, atSeconds, renderWho)
  // Whatever else failed: without the commit no condition may have been met, and the reader can change that.
  const notCommitted = diagnosis.evidence.find(isNotCommitted)
  if (notCommitted === undefined) return main
  const says = [...main.says, notCommitted]
  if (diagnosis.cause === 'no_credential') return { ...main, says }
  const room = maxReasonLength - notCommitted.text.length
  return { text: join('; ', [shorten(main.text, Math.max(100, room)), notCommitted.text]), says }
}

/** Beside the longest headline, on one line. */
const maxReasonLength = 500

function mainReasonOf(
  { cause, conditions, culprit, evidence }: Diagnosis,
  atSeconds: number,
  renderWho: typeof renderCulprit,
): Reason {
  if (culprit !== undefined) return { text: renderWho(culprit), says: [] }
  const unreachable = evidence.find(({ kind }) => kind === 'unreachable')
  if (unreachable !== undefined) return { text: renderEvidence(unreachable, atSeconds).join(), says: [unreachable] }
  const last = cause === 'timeout' ? firstUnmet(conditions) : undefined
  if (last === undefined) return { text: '', says: [] }
  return { text: `${renderCondition(last)} (for ${seconds(atSeconds - last.since)})`, says: [last] }
}

function renderSuperseded({ task, commit, tag }: NonNullable<Diagnosis['superseded_by']>): string {
  if (task !== undefined) return `superseded by task ${task}`
  return `superseded in Git: commit ${commit ?? ''} sets tag ${tag ?? ''}`
}

function renderUnmet({ found, ...condition }: Condition, atSeconds: number, said: string): string {
  const besides = found === undefined ? '' : unsaid(found, said)
  return `Condition ${condition.state === 'unknown' ? 'unknown' : 'not met'} for ${seconds(atSeconds - condition.since)}: ${renderCondition({ ...condition, ...(besides === '' ? {} : { found: besides }) })}`
}

const notesOf = ({ evidence }: Pick<Diagnosis, 'evidence'>) =>
  evidence.flatMap((one) => (one.kind === 'note' ? [one.text] : []))

/** Who does a step. */
export const renderRole = (actor: string) => roleNames[actor] ?? actor

const roleNames: Readonly<Record<string, string>> = {
  developer: 'developer',
  platform_team: 'platform team',
  operator: 'operator of this service',
} satisfies Record<Role, string>

const maxLineLength = 600
const maxBytes = 8_192

/** A text on one line, of at most 600 characters. */
export const boundedLine = (text: string): string => shorten(oneLine(text), maxLineLength)

function cutToBytes(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxBytes) return text
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes - 8))
  return `${kept.replace(/\uFFFD+$/, '')}…`
}
