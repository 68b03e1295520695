import type { Cause } from '../../../contract/cause.ts'
import { errorConditionsOf } from './gates.ts'
import { type Ending, isSyncFailing, podHint } from './judge-failure.ts'
import { type BadPod, describeBadPod, findBadPods, lastingBadPod } from './judge-pods.ts'
import type { Stall } from './judge-waiting.ts'
import type { JudgedTask, Look } from './look.ts'
import type { RolloutObservation } from './rollout-observation.ts'
import type { WriteBackState } from './watched-task.ts'

type DeadlineView = {
  readonly task: Pick<JudgedTask, 'isOverdue'>
  readonly observation: RolloutObservation
  readonly nowMs: number
}

/** How a task ends whose time is over and whose application was never seen. */
export function judgeDeadlineUnseen(view: DeadlineView): Ending {
  return judgeUnconfirmed(view) ?? unconfirmed('the application could not be read')
}

/** How a task ends whose time is over, from what the last look saw. */
export function judgeDeadline(look: Look, stall: Stall | undefined): Ending {
  const early = judgeUnconfirmed(look)
  if (early !== undefined) return early
  const { gates } = look
  const refusal = directReadRefusal(look.observation)
  const isPushing = look.observation.writeBack.kind === 'pending'
  if (gates.areOpen && !isPushing) return unconfirmed(refusal ?? 'the last direct read did not answer in time')
  const { cause, text, hint } = culpritOf(look, stall)
  const waits = isPushing
    ? ['the commit to reach the Git host']
    : gates.closed.map(({ name, reason }) => `${name}: ${reason}`)
  const parts = ['timed out', text, `waiting for ${waits.join('; ')}`, refusal]
  const headline = parts.filter((part) => part !== undefined).join('; ')
  return { status: 'failed', cause, headline, ...(hint === undefined ? {} : { hint }) }
}

function judgeUnconfirmed({ task, observation: { unreachable }, nowMs }: DeadlineView): Ending | undefined {
  if (task.isOverdue) return withoutReplica(unreachable?.why)
  if (unreachable === undefined) return undefined
  const seconds = Math.max(1, Math.round((nowMs - unreachable.sinceMs) / 1_000))
  return unconfirmed(`Argo CD was unreachable for the last ${seconds}s: ${unreachable.why}`)
}

function unconfirmed(why: string): Ending {
  const headline = `the outcome could not be confirmed before the deadline: ${why}`
  return { status: 'aborted', cause: 'controller_unreachable', headline, hint: 'Look at the application in Argo CD.' }
}

function withoutReplica(why: string | undefined): Ending {
  const headline = 'timed out while no replica watched it'
  return {
    status: 'aborted',
    cause: 'no_replica',
    headline: `${headline}; a final check ${why === undefined ? 'does not show it complete' : `failed: ${why}`}`,
    hint: 'Look at the application in Argo CD, and deploy again unless it runs what was wanted.',
  }
}

function directReadRefusal({ directRead }: RolloutObservation): string | undefined {
  if (directRead?.result !== 'missing') return undefined
  return 'direct reads are refused with "permission denied": the token may not read the application, or it is not there'
}

type Culprit = { readonly cause: Cause; readonly text?: string | undefined; readonly hint?: string }

function culpritOf(look: Look, stall: Stall | undefined): Culprit {
  const { context, gates, observation } = look
  if (errorConditionsOf(context.application).length > 0) return { cause: 'comparison_error' }
  if (isSyncFailing(context, gates)) return { cause: 'sync_error' }
  if (stall !== undefined) return stall
  const bad = badPodOf(look)
  if (bad !== undefined)
    return { cause: bad.cause, text: describeBadPod(bad, observation.podEvents?.value), hint: podHint }
  return culpritOfWriteBack(observation.writeBack, gates.isOpen('I'))
}

/** The Pod that keeps a synced application from getting healthy. */
function badPodOf({ context, gates, memory, observation: { tree } }: Look): BadPod | undefined {
  if (tree?.value === undefined || gates.isOpen('H') || !gates.isOpen('R') || !gates.isOpen('S')) return undefined
  return lastingBadPod(findBadPods(tree.value, context.wanted, context.settings), memory.badPods)
}

/** A task that could have committed, had it only been let, most likely waited for that commit. */
function culpritOfWriteBack(writeBack: WriteBackState, areImagesThere: boolean): Culprit {
  if (writeBack.kind === 'pending')
    return { cause: 'git_unreachable', hint: 'Look at the events of the task for the errors of the push.' }
  if (areImagesThere || writeBack.kind !== 'monitor' || writeBack.note === '') return { cause: 'timeout' }
  if (writeBack.why === 'no_credential')
    return { cause: 'no_credential', hint: 'Send a deploy token or a JWT with the task.' }
  if (writeBack.why === 'not_managed')
    return { cause: 'not_managed', hint: 'Set the annotation managed on the application, or commit the tag yourself.' }
  return { cause: 'timeout' }
}
