import type { Gate, GateName } from '../../../contract/gates/gates.ts'
import type { TaskRecord } from '../../../contract/task.ts'

/** Of its row in the timeline. */
export const gateRowId = (gate: GateName) => `gate-${gate.toLowerCase().replace(' ', '-')}`

/** The same in a sentence, for the ear. */
export function describeGates(task: TaskRecord, gates: readonly Gate[]): string {
  const passed = gates.filter(({ state }) => state === 'done').length
  const at = gates.findIndex(({ state }) => state === 'now' || state === 'stop')
  if (passed === gates.length) return `All ${gates.length} gates passed`
  if (at < 0) return `At least ${passed} of ${gates.length} gates passed`
  return `${verbs[task.status] ?? task.status} at gate ${at + 1} of ${gates.length}: ${gates[at]?.name}`
}

const verbs: Readonly<Record<string, string>> = {
  'in progress': 'Waiting',
  deployed: 'Passed',
  failed: 'Stopped',
  aborted: 'Outcome unknown',
  cancelled: 'Cancelled',
  'app not found': 'Ended',
} satisfies Record<TaskRecord['status'], string>
