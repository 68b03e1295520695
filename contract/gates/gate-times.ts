import type { ConditionName } from '../conditions.ts'
import type { TaskRecord } from '../task.ts'
import type { TaskEvent } from '../task-event.ts'
import { conditionsOfGate, type Gate, isPassed } from './gates.ts'

/** How a gate was passed, or how long it is waited for, in Unix seconds and seconds. */
export type GateTime = {
  readonly at: number | undefined
  /** From this gate to the next one. */
  readonly tookSeconds: number | undefined
  /** Since when the task waits at it. */
  readonly waitsSince: number | undefined
}

const commitKinds = ['commit_pushed', 'commit_unchanged', 'write_back_skipped']

/**
 * When each gate was passed: the commit by the timeline, the others by when their conditions were first met. A condition that was
 * met before the task came to its gate counts from then.
 */
export function gateTimes(task: TaskRecord, gates: readonly Gate[], events: readonly TaskEvent[]): readonly GateTime[] {
  const passed: (number | undefined)[] = []
  let latest = task.created
  for (const gate of gates) {
    const at = gate.state === 'done' ? passedAt(gate, task, events) : undefined
    if (at !== undefined) latest = Math.max(latest, at)
    passed.push(at === undefined ? undefined : latest)
  }
  return gates.map(({ state }, index) => {
    const [at, next, before] = [passed[index], passed[index + 1], passed[index - 1]]
    return {
      at,
      tookSeconds: at === undefined || next === undefined ? undefined : next - at,
      waitsSince: state === 'now' ? before : undefined,
    }
  })
}

function passedAt({ name }: Gate, task: TaskRecord, events: readonly TaskEvent[]): number | undefined {
  if (name === 'Accepted') return task.created
  if (name === 'Committed') return events.find(({ kind }) => commitKinds.includes(kind))?.at
  if (name === 'Settled') return task.updated
  const names: readonly ConditionName[] = conditionsOfGate(name)
  const conditions = (task.diagnosis?.conditions ?? []).filter((one) => names.includes(one.name))
  const arePassed = conditions.length > 0 && conditions.every(isPassed)
  return arePassed ? Math.max(...conditions.map(({ since, first_met: firstMet }) => firstMet ?? since)) : undefined
}
