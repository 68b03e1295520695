import type { Cause } from '../../../contract/cause.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { parseReason } from './parse-reason.ts'

const gateNames = ['Accepted', 'Committed', 'Picked up', 'Synced', 'Healthy', 'Settled'] as const
type GateName = (typeof gateNames)[number]

/** `now`: it waits here. `stop`: it ended here. `ahead`: not reached, or the record does not tell. */
export type Gate = { readonly name: GateName; readonly state: 'done' | 'now' | 'stop' | 'ahead' }

/** Where a bad end happened, for the causes that say it. Decision 0022. */
const gateOfCause: Partial<Record<Cause, GateName>> = {
  app_not_found: 'Accepted',
  not_managed: 'Committed',
  annotation_invalid: 'Committed',
  setting_missing: 'Committed',
  git_refused: 'Committed',
  git_unreachable: 'Committed',
  override_file_invalid: 'Committed',
  no_credential: 'Committed',
  not_followed: 'Committed',
  comparison_error: 'Picked up',
  sync_error: 'Synced',
  hook_failed: 'Synced',
  terminated: 'Synced',
  sync_window: 'Synced',
  manual_sync_required: 'Synced',
  auto_sync_stopped: 'Synced',
  image_not_in_application: 'Healthy',
  commit_without_effect: 'Healthy',
  image_pull: 'Healthy',
  image_name: 'Healthy',
  container_config: 'Healthy',
  crash_loop: 'Healthy',
  probe_failing: 'Healthy',
  degraded: 'Healthy',
  suspended: 'Healthy',
}

/** The conditions a reason names as closed, by their letters, and the gate they belong to. */
const gateOfLetter: Readonly<Record<string, GateName>> = {
  N: 'Picked up',
  R: 'Picked up',
  S: 'Synced',
  O: 'Synced',
  P: 'Synced',
  H: 'Healthy',
  I: 'Healthy',
  V: 'Healthy',
}

/** Words that name a gate in the sentence of what a task waits for, tried in this order. Decision 0022. */
const gateInWords: readonly (readonly [GateName, RegExp])[] = [
  ['Committed', /\bcommit to (reach|be pushed)/i],
  ['Synced', /\b(sync|synced|operation|hook)\b/i],
  [
    'Picked up',
    /\b(revision|commit|comparison|refresh|newer state|branch|hydration|history|ComparisonError|InvalidSpecError)\b/i,
  ],
  ['Healthy', /\b(health|pods?|ready|suspended|images?|runs?|running)\b/i],
  ['Settled', /\b(final check|settl)/i],
]

/** The six gates of a rollout, as far as the record tells: a gate is only `now` or `stop` where the record says so. */
export function gatesOf(task: TaskRecord): readonly Gate[] {
  if (task.status === 'deployed') return gateNames.map((name) => ({ name, state: 'done' }))
  const at = task.status === 'in progress' ? waitsAt(task) : endedAt(task)
  const here = task.status === 'in progress' ? 'now' : 'stop'
  const passed = at === undefined ? certain(task) : gateNames.indexOf(at)
  return gateNames.map((name, index) => ({
    name,
    state: index < passed ? 'done' : name === at ? here : 'ahead',
  }))
}

/** How many gates are passed for certain: accepted, and committed once there is a commit. */
const certain = (task: TaskRecord) => (task.commit === undefined ? 1 : 2)

function waitsAt({ progress = '', commit }: TaskRecord): GateName | undefined {
  const [first = ''] = progress.split('; ')
  if (/\bunreachable\b/.test(first)) return undefined
  const named = gateInWords.find(([, words]) => words.test(first))?.[0]
  return named === 'Committed' && commit !== undefined ? undefined : named
}

function endedAt(task: TaskRecord): GateName | undefined {
  if (task.status === 'app not found') return 'Accepted'
  const byCause = task.cause === undefined ? undefined : gateOfCause[task.cause]
  return byCause ?? firstClosed(parseReason(task.status_reason, task.cause).closedGates)
}

function firstClosed(letters: readonly string[]): GateName | undefined {
  const closed = letters.flatMap((letter) => gateOfLetter[letter] ?? [])
  return gateNames.find((name) => closed.includes(name))
}

/** The same in a sentence, for the ear. */
export function describeGates(task: TaskRecord, gates: readonly Gate[]): string {
  const passed = gates.filter(({ state }) => state === 'done').length
  const at = gates.findIndex(({ state }) => state === 'now' || state === 'stop')
  if (passed === gates.length) return `All ${gates.length} gates passed`
  if (at < 0) return `At least ${passed} of ${gates.length} gates passed`
  return `${verbs[task.status]} at gate ${at + 1} of ${gates.length}: ${gateNames[at]}`
}

const verbs: Readonly<Record<TaskRecord['status'], string>> = {
  'in progress': 'Waiting',
  deployed: 'Passed',
  failed: 'Stopped',
  aborted: 'Outcome unknown',
  cancelled: 'Cancelled',
  'app not found': 'Ended',
}
