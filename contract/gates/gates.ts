import { causesOfCommit } from '../causes.ts'
import type { ConditionName } from '../conditions.ts'
import type { Condition } from '../diagnosis.ts'
import type { TaskRecord } from '../task.ts'

const gateNames = ['Accepted', 'Committed', 'Picked up', 'Synced', 'Healthy', 'Settled'] as const
export type GateName = (typeof gateNames)[number]

/** `now`: it waits here. `stop`: it ended here. `ahead`: not reached, or the record does not tell. */
export type Gate = { readonly name: GateName; readonly state: 'done' | 'now' | 'stop' | 'ahead' }

/** Where a task waits while a condition is not met. */
export const gateOfCondition: Readonly<Record<ConditionName, GateName>> = {
  alive: 'Picked up',
  no_errors: 'Picked up',
  revision: 'Picked up',
  synced: 'Synced',
  operation: 'Synced',
  compared_after_operation: 'Synced',
  healthy: 'Healthy',
  images: 'Healthy',
  no_old_pods: 'Healthy',
}

/** What must be met to pass a gate. */
export const conditionsOfGate = (gate: GateName): readonly ConditionName[] =>
  (Object.keys(gateOfCondition) as ConditionName[]).filter((name) => gateOfCondition[name] === gate)

/** The six gates of a rollout, as far as the record tells: a gate is only `now` or `stop` where the record says so. */
export function gatesOf(task: TaskRecord): readonly Gate[] {
  if (task.status === 'deployed') return gateNames.map((name) => ({ name, state: 'done' }))
  const at = gateAt(task)
  const here = task.status === 'in progress' ? 'now' : 'stop'
  const passed = at === undefined ? certain(task) : gateNames.indexOf(at)
  return gateNames.map((name, index) => ({
    name,
    state: index < passed ? 'done' : name === at ? here : 'ahead',
  }))
}

/** How many gates are passed for certain: accepted, committed once there is a commit, and of a cancelled task what was seen. */
function certain({ status, commit, unmet_condition: unmet }: TaskRecord): number {
  const seen = status === 'cancelled' && unmet !== undefined ? gateOfCondition[unmet] : undefined
  return Math.max(commit === undefined ? 1 : 2, seen === undefined ? 0 : gateNames.indexOf(seen))
}

function gateAt({ status, cause, unmet_condition: unmet, diagnosis }: TaskRecord): GateName | undefined {
  if (status === 'app not found') return 'Accepted'
  if (status === 'cancelled') return undefined
  const isCommitting = diagnosis?.evidence.some(({ kind }) => kind === 'commit_pending') === true
  if (isCommitting || (cause !== undefined && causesOfCommit.has(cause))) return 'Committed'
  const conditions = diagnosis?.conditions ?? []
  const waitsFor = conditions.find((condition) => !isPassed(condition))?.name
  const areAllPassed = diagnosis !== undefined && waitsFor === undefined
  if (status === 'in progress' && areAllPassed) return 'Settled'
  return unmet && gateOfCondition[waitsFor ?? unmet]
}

/** An ancestry that is looked up for a later commit on the branch does not take back what was met. */
export const isPassed = ({ state, first_met: firstMet }: Condition): boolean =>
  state === 'met' || (state === 'unknown' && firstMet !== undefined)
