import { firstUnmet } from '../../../../contract/conditions.ts'
import type { Diagnosis } from '../../../../contract/diagnosis.ts'
import { shorten } from '../../../../contract/fields.ts'
import type { TaskEventData } from '../../../../contract/task-event.ts'
import { renderExpectation } from '../../../../contract/text/render-diagnosis.ts'
import type { NewTaskEvent } from '../../../timeline/task-event.ts'
import type { ObservedApplication } from '../../observed/observed-application.ts'
import type { ConditionResult } from '../conditions/conditions.ts'
import type { Evaluation } from '../conditions/evaluate.ts'
import { shortRevision } from '../conditions/revision-condition.ts'
import { isAwaitingCommit } from '../input/judge-input.ts'
import { type ReportedState, type RolloutMemory, type ShownPart, shownParts } from '../input/rollout-memory.ts'
import type { Verdict } from '../input/verdict.ts'
import { diagnose, renderProgress } from './diagnose.ts'
import { podsOf } from './evidence.ts'

type Changes = {
  readonly reported: ReportedState
  readonly events: readonly NewTaskEvent[]
  /** Where what the task waits for, or what was found of it, is new. */
  readonly diagnosis: Diagnosis | undefined
}

/** What changed since the timeline and the diagnosis were last written. */
export function reportChanges(
  evaluation: Evaluation,
  { reported, conditionSince }: RolloutMemory,
  blocker: Verdict | undefined,
): Changes {
  const { application } = evaluation
  const waiting = waitingOf(evaluation)
  const heldUpBy = heldUpByOf(evaluation, blocker)
  const pods = podsOf(evaluation)
  const found = `${foundOf(evaluation, blocker)}\n${JSON.stringify(pods)}`
  const isUnchanged = waiting === reported.waiting && heldUpBy === reported.heldUpBy && found === reported.found
  const diagnosis = isUnchanged
    ? undefined
    : { ...diagnose(evaluation, conditionSince, blocker), ...(pods.length === 0 ? {} : { pods: [...pods] }) }
  const progress = diagnosis === undefined ? reported.progress : renderProgress(diagnosis)
  const unmet = isAwaitingCommit(evaluation) ? undefined : firstUnmet(evaluation.conditions.all)
  const now: ReportedState = {
    ...describe(application),
    waiting,
    heldUpBy,
    unmet: unmet === undefined ? '' : `${unmet.name} ${unmet.state}`,
    found,
    progress,
  }
  const events = [...applicationEvents(application, reported, now)]
  if (heldUpBy !== reported.heldUpBy && heldUpBy !== '')
    events.push({ kind: 'waiting_for', detail: bounded(progress), data: holdUpData(blocker, unmet) })
  else if (events.length === 0 && unmet !== undefined && isNews(unmet, reported) && now.unmet !== reported.unmet)
    events.push({ kind: 'waiting_for', detail: bounded(renderUnmet(unmet)), data: { condition: unmet.name } })
  const isSame = events.length === 0 && diagnosis === undefined && reported.operation === now.operation
  return { reported: isSame ? reported : now, events, diagnosis }
}

/** What Argo CD shows of the application: all of it is one event when it is first seen, and so is all that changed at one time. */
function* applicationEvents(
  { namespace, name }: ObservedApplication,
  reported: ReportedState,
  now: ReportedState,
): Generator<NewTaskEvent> {
  const parts = shownParts.filter((part) => reported[part] !== now[part] && now[part] !== '')
  const data = Object.assign({}, ...parts.map((part) => now.shown[part]))
  if (reported.uid === '') {
    const application = `${namespace}/${name}`
    const detail = `application ${application}: ${parts.map((part) => labelled(part, now)).join('; ')}`
    yield { kind: 'application_confirmed', detail: bounded(detail), data: { application, ...data } }
    return
  }
  if (reported.uid !== now.uid) yield { kind: 'note', detail: 'the application was re-created' }
  const [first, ...others] = parts
  if (first === undefined) return
  const detail = [now[first], ...others.map((part) => labelled(part, now))].join('; ')
  yield { kind: `${first}_changed`, detail: bounded(detail), data }
}

const labelled = (part: ShownPart, now: ReportedState) => `${part} ${now[part]}`

/** A refresh that follows the first sight of the application is part of that event. */
export function joinEvents(earlier: readonly NewTaskEvent[], later: readonly NewTaskEvent[]): readonly NewTaskEvent[] {
  const [last, next] = [earlier.at(-1), later[0]]
  const isFollowedUp = last?.kind === 'application_confirmed' && last.data?.refresh !== true
  if (!isFollowedUp || next?.kind !== 'refresh_requested') return [...earlier, ...later]
  const seen = { ...last, detail: bounded(`${last.detail}; ${next.detail}`), data: { ...last.data, ...next.data } }
  return [...earlier.slice(0, -1), seen, ...later.slice(1)]
}

/** What Argo CD shows tells these by itself, and a commit that was just pushed is awaited of course. */
const isNews = ({ name }: ConditionResult, reported: ReportedState) =>
  !['synced', 'operation', 'healthy', 'images'].includes(name) && reported.unmet !== ''

/** `condition not met: images: expected shop:2, found shop:1` */
const renderUnmet = ({ name, state, expected, found }: ConditionResult): string => {
  const expectation = renderExpectation({ expected: expected ?? '', found: found ?? '' })
  return `condition ${state === 'unknown' ? 'unknown' : 'not met'}: ${name.replaceAll('_', ' ')}: ${expectation}`
}

function holdUpData(blocker: Verdict | undefined, unmet: ConditionResult | undefined): TaskEventData {
  return {
    ...(blocker?.cause === undefined ? {} : { cause: blocker.cause }),
    ...(unmet === undefined ? {} : { condition: unmet.name }),
  }
}

/** The states of the conditions: progress is saved when one changes. */
function waitingOf(evaluation: Evaluation): string {
  const states = isAwaitingCommit(evaluation) ? '' : evaluation.conditions.all.map(({ state }) => state).join()
  return `${states} ${evaluation.observation.writeBack.kind === 'pending'}`
}

/** Another cause or another culprit is a new event, and so is that Argo CD cannot be reached. */
function heldUpByOf(evaluation: Evaluation, blocker: Verdict | undefined): string {
  if (evaluation.observation.unreachable !== undefined) return 'unreachable'
  if (blocker === undefined || isAwaitingCommit(evaluation)) return ''
  const { kind, namespace, name, container } = blocker.culprit ?? {}
  const parts = [blocker.cause, kind, namespace, name, container]
  return parts.filter((part) => part !== undefined && part !== '').join('\n')
}

/** A change of what was found, or of its wording, is not a change of state. */
function foundOf(evaluation: Evaluation, blocker: Verdict | undefined): string {
  const unmet = isAwaitingCommit(evaluation) ? [] : evaluation.conditions.unmet
  const texts = unmet.map(({ expected, found }) => `${expected}, ${found}`).join('\n')
  return `${texts}\n${blocker?.culprit?.message}\n${evaluation.observation.unreachable?.why}`
}

function describe(application: ObservedApplication) {
  const { operation, revisions, syncStatus = 'not compared yet', healthStatus = 'no health yet', images } = application
  const at = revisions.map(shortRevision).join(', ')
  const phase = operation?.phase
  return {
    uid: application.uid,
    sync: bounded(`${syncStatus}${at === '' ? '' : ` at ${at}`}`),
    health: bounded(healthStatus),
    operation: describeOperation(phase, operation?.message),
    images: bounded(images.join(', ') || 'no Pods'),
    shown: {
      sync: { sync: syncStatus, revisions: revisions.slice(0, maxShown) },
      health: { health: healthStatus },
      operation: phase === undefined ? {} : { operation: phase },
      images: { images: images.slice(0, maxShown) },
    },
  }
}

function describeOperation(phase: string | undefined, message: string | undefined): string {
  if (phase === undefined) return ''
  return bounded(message === undefined ? phase : `${phase}: ${message}`)
}

/** Revisions and images of one event. */
const maxShown = 20
const maxDetailLength = 1_000

const bounded = (text: string): string => shorten(text, maxDetailLength)
