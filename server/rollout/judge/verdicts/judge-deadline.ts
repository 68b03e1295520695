import type { Evidence } from '../../../../contract/diagnosis.ts'
import type { Evaluation } from '../conditions/evaluate.ts'
import { progressingRoot } from '../conditions/suspect.ts'
import type { JudgedTask } from '../input/judge-input.ts'
import type { StateStartTimes } from '../input/rollout-memory.ts'
import type { RolloutObservation } from '../input/rollout-observation.ts'
import { note, type Verdict, verdictOf } from '../input/verdict.ts'
import type { WriteBackState } from '../input/watched-task.ts'
import { accuse } from '../report/accuse.ts'
import { judgeDegraded } from './judge-failure.ts'

type DeadlineView = {
  readonly task: Pick<JudgedTask, 'isOverdue' | 'acceptedAtMs' | 'deadlineMs'>
  readonly observation: RolloutObservation
}

/** How a task ends whose time is over and whose application was never seen. */
export function judgeDeadlineUnseen(view: DeadlineView): Verdict {
  return judgeUnconfirmed(view) ?? unconfirmed(view, 'the application could not be read')
}

/** How a task ends whose time is over, from what was seen last and what holds it up. `isSettled`: only a direct read is missing. */
export function judgeDeadline(
  evaluation: Evaluation,
  since: StateStartTimes,
  blocker: Verdict | undefined,
  isSettled: boolean,
): Verdict {
  const early = judgeUnconfirmed(evaluation)
  if (early !== undefined) return early
  const { conditions, observation } = evaluation
  const refusal = directReadRefusal(observation)
  if (conditions.areMet && isSettled && observation.writeBack.kind !== 'pending')
    return unconfirmed(evaluation, refusal ?? 'the last direct read did not answer in time')
  const degraded = since.degraded === undefined ? undefined : judgeDegraded(evaluation, since)
  const decided = blocker ?? degraded ?? judgeWriteBack(observation.writeBack, conditions.isMet('images'))
  const verdict = decided.cause === 'timeout' ? (judgeSlowness(evaluation) ?? decided) : decided
  const notes = [
    refusal ?? '',
    conditions.areMet && !isSettled ? 'all conditions were met, but only after the timeout' : '',
  ]
  return { ...verdict, evidence: [deadlinePassed(evaluation), ...notes.filter((text) => text !== '').map(note)] }
}

function judgeUnconfirmed(view: DeadlineView): Verdict | undefined {
  if (view.task.isOverdue) return verdictOf('no_replica')
  return view.observation.unreachable === undefined ? undefined : unconfirmed(view)
}

function unconfirmed(view: DeadlineView, ...why: readonly string[]): Verdict {
  return verdictOf('controller_unreachable', { evidence: [deadlinePassed(view), ...why.map(note)] })
}

const deadlinePassed = ({ task }: DeadlineView): Evidence => ({
  kind: 'deadline',
  after: Math.round((task.deadlineMs - task.acceptedAtMs) / 1_000),
})

function directReadRefusal({ directRead }: RolloutObservation): string | undefined {
  if (directRead?.result !== 'missing') return undefined
  return 'direct reads return "permission denied": the token may not read the application, or it does not exist'
}

/** What a rollout that is complete but for its health waited for. */
function judgeSlowness(evaluation: Evaluation): Verdict | undefined {
  const { application, conditions, suspect } = evaluation
  const { isMet } = conditions
  if (application.healthStatus !== 'Progressing' || !isMet('revision') || !isMet('synced') || !isMet('operation'))
    return undefined
  // One read of a requested image's Pod proves nothing; what more of them showed holds the task up.
  const isProven = suspect?.found.kind !== 'pod' || suspect.below !== 'requested_image'
  const accused = suspect && isProven ? accuse(suspect, evaluation) : undefined
  if (accused !== undefined) return accused
  const slow = progressingRoot(application)
  if (slow === undefined) return undefined
  const { kind, namespace, name, healthMessage: message = '' } = slow
  return verdictOf('timeout', { culprit: { kind, namespace, name, message } })
}

/** A task that could have committed, had it only been let, most likely waited for that commit. */
function judgeWriteBack(writeBack: WriteBackState, areImagesThere: boolean): Verdict {
  if (writeBack.kind === 'pending') return verdictOf('git_unreachable')
  const isSilent = areImagesThere || writeBack.kind !== 'monitor' || writeBack.note === ''
  if (isSilent || (writeBack.why !== 'no_credential' && writeBack.why !== 'not_managed')) return verdictOf('timeout')
  return verdictOf(writeBack.why)
}
