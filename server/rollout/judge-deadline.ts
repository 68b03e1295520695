import type { Cause } from '../../contract/cause.ts'
import { errorConditionsOf, type GateContext } from './gates.ts'
import type { Ending } from './judge-failure.ts'
import { isSyncFailing } from './judge-failure.ts'
import type { Gates } from './judge-gates.ts'
import { findBadPods } from './judge-pods.ts'
import type { Standstill } from './judge-waiting.ts'
import type { RolloutObservation } from './rollout-observation.ts'
import type { WriteBackState } from './watched-task.ts'

/** How a task ends whose time is over, from what the last look saw. */
export function judgeDeadline(
  context: GateContext | undefined,
  gates: Gates | undefined,
  standstill: Standstill | undefined,
  observation: RolloutObservation,
): Ending {
  if (observation.unreachable !== undefined) return unconfirmed(observation.unreachable.why)
  if (context === undefined || gates === undefined) return unconfirmed('the application could not be read')
  const refusal = directReadRefusal(observation)
  if (gates.areOpen) return unconfirmed(refusal ?? 'the last direct read did not answer in time')
  const { cause, hint } = culpritOf(context, gates, standstill, observation)
  const states = gates.closed.map(({ name, reason }) => `${name}: ${reason}`).join('; ')
  const headline = ['timed out', standstill?.text, `waiting for ${states}`, refusal]
    .filter((part) => part !== undefined)
    .join('; ')
  return { status: 'failed', cause, headline, ...(hint === undefined ? {} : { hint }) }
}

function unconfirmed(why: string): Ending {
  const headline = `the outcome could not be confirmed before the deadline: ${why}`
  return { status: 'aborted', cause: 'controller_unreachable', headline, hint: 'Look at the application in Argo CD.' }
}

function directReadRefusal({ directRead }: RolloutObservation): string | undefined {
  return directRead?.result === 'missing' ? 'direct reads are refused with "permission denied"' : undefined
}

type Culprit = { readonly cause: Cause; readonly hint?: string }

function culpritOf(
  context: GateContext,
  gates: Gates,
  standstill: Standstill | undefined,
  observation: RolloutObservation,
): Culprit {
  const tree = observation.tree?.value
  const [bad] =
    tree === undefined || gates.isOpen('H') || !gates.isOpen('R')
      ? []
      : findBadPods(tree, context.wanted, context.settings)
  if (errorConditionsOf(context.application).length > 0) return { cause: 'comparison_error' }
  if (isSyncFailing(context, gates)) return { cause: 'sync_error' }
  if (standstill !== undefined) return { cause: standstill.cause, hint: standstill.hint }
  if (bad !== undefined && gates.isOpen('S'))
    return { cause: 'timeout', hint: `Pod ${bad.pod.name} does not start: look at its events and log.` }
  return culpritOfWriteBack(observation.writeBack)
}

/** A task that could have committed, had it only brought a credential, most likely waited for that commit. */
function culpritOfWriteBack(writeBack: WriteBackState): Culprit {
  if (writeBack.kind === 'pending')
    return { cause: 'git_unreachable', hint: 'Look at the events of the task for the errors of the push.' }
  if (writeBack.kind !== 'monitor') return { cause: 'timeout' }
  if (writeBack.why === 'no_credential')
    return { cause: 'no_credential', hint: 'Send a deploy token or a JWT with the task.' }
  return { cause: 'timeout' }
}
