import { causesOfCommit } from '../../../contract/causes.ts'
import { type GateTime, gateTimes } from '../../../contract/gates/gate-times.ts'
import { type Gate, type GateName, gateOfCondition, gatesOf } from '../../../contract/gates/gates.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskEvent, TaskEventData } from '../../../contract/task-event.ts'
import { capitalize } from '../ui/capitalize.ts'
import { duration } from '../ui/duration.ts'
import { eventWords } from './event-words.ts'
import { rowCause, verdictWords } from './verdict-words.ts'

/** A gate as a row of the timeline: what came of it, in one sentence, and the events behind it. */
export type GateRow = {
  readonly gate: Gate
  readonly time: GateTime | undefined
  /** Empty where nothing is to be said yet. */
  readonly sentence: string
  /** Without those that say the sentence once more. */
  readonly steps: readonly TaskEvent[]
  /** When an event said the sentence first, in Unix seconds. */
  readonly saidAt: number | undefined
}

/** The six gates of a task, each with the events that belong to it. */
export function gateRows(task: TaskRecord, events: readonly TaskEvent[]): readonly GateRow[] {
  const gates = gatesOf(task)
  const times = gateTimes(task, gates, events)
  const steps = stepsOf(gates, events)
  const firstAhead = gates.find(({ state }) => state === 'ahead')
  return gates.map((gate, index) => {
    const own = steps.get(gate.name) ?? []
    const sentence = gate.state === 'ahead' && gate !== firstAhead ? '' : sentenceOf(gate, own, task, events)
    const said = own.filter((event) => isSentence(event, sentence))
    return {
      gate,
      time: times[index],
      sentence,
      steps: own.filter((step) => !said.includes(step)),
      saidAt: said[0]?.at,
    }
  })
}

function isSentence(event: TaskEvent, sentence: string): boolean {
  const { kind, detail, data: { status, cause } = {} } = event
  if (kind === 'verdict') return detail === `${status}: ${sentence} [${cause}]`
  const { what, more, images } = eventWords(event)
  return what === sentence && more === '' && images.length === 0
}

const gateOfKind: Readonly<Record<string, GateName>> = {
  accepted: 'Accepted',
  superseded_others: 'Accepted',
  application_confirmed: 'Accepted',
  write_back_skipped: 'Committed',
  write_back_queued: 'Committed',
  write_back_retry: 'Committed',
  commit_pushed: 'Committed',
  commit_unchanged: 'Committed',
  refresh_requested: 'Picked up',
  sync_changed: 'Synced',
  operation_changed: 'Synced',
  health_changed: 'Healthy',
  images_changed: 'Healthy',
}

function stepsOf(gates: readonly Gate[], events: readonly TaskEvent[]): ReadonlyMap<GateName, readonly TaskEvent[]> {
  const steps = new Map<GateName, TaskEvent[]>()
  let last: GateName = 'Accepted'
  for (const event of events) {
    last = event.kind === 'verdict' ? endOf(gates, last) : (gateOf(event) ?? last)
    steps.set(last, [...(steps.get(last) ?? []), event])
  }
  return steps
}

/** The gate that an event is about; undefined where it may be about any: it stays with the event before. */
function gateOf({ kind, data }: TaskEvent): GateName | undefined {
  if (kind !== 'waiting_for') return Object.hasOwn(gateOfKind, kind) ? gateOfKind[kind] : undefined
  const { cause, condition } = data ?? {}
  if (cause !== undefined && causesOfCommit.has(cause)) return 'Committed'
  return condition !== undefined && Object.hasOwn(gateOfCondition, condition) ? gateOfCondition[condition] : undefined
}

const endOf = (gates: readonly Gate[], last: GateName): GateName =>
  gates.every(({ state }) => state === 'done') ? 'Settled' : (gates.find(({ state }) => state === 'stop')?.name ?? last)

function sentenceOf(gate: Gate, steps: readonly TaskEvent[], task: TaskRecord, events: readonly TaskEvent[]): string {
  if (gate.state === 'now') return verdictWords(task).headline
  if (gate.state === 'stop') return rowCause(task) ?? ''
  if (gate.state === 'ahead') return notPassed(gate, task)
  return passed[gate.name](steps, task, lastShown(events))
}

/** Of the first gate that is not passed. A cancelled task is not watched any more. */
function notPassed({ name }: Gate, { status }: TaskRecord): string {
  if (status === 'in progress') return name === 'Settled' ? 'Then a final check' : ''
  return status === 'cancelled' ? 'Not watched any more' : 'Not reached'
}

type Passed = (steps: readonly TaskEvent[], task: TaskRecord, shown: TaskEventData) => string

const passed: Readonly<Record<GateName, Passed>> = {
  Accepted: (steps, { author }) => {
    const superseded = steps.find(({ kind }) => kind === 'superseded_others')?.data?.superseded?.length ?? 0
    return superseded === 0
      ? `From ${author}`
      : `From ${author}, in place of ${superseded} older ${superseded === 1 ? 'one' : 'ones'}`
  },
  Committed: (steps, { commit, branch }) => {
    if (steps.some(({ kind }) => kind === 'commit_pushed') && commit !== undefined)
      return `Commit ${commit.slice(0, 7)}${branch === undefined ? '' : ` on ${branch}`}`
    const said = steps.findLast(({ kind }) => kind === 'commit_unchanged' || kind === 'write_back_skipped')
    if (said?.kind === 'commit_unchanged' && said.data?.branch !== undefined)
      return `Nothing to commit: ${said.data.branch} has the tags already`
    return capitalize(said?.detail ?? '') || 'Not by this service'
  },
  'Picked up': (_steps, _task, { revisions = [] }) => {
    const at = revisions.map((revision) => revision.slice(0, 7)).join(', ')
    return at === '' ? 'Argo CD has compared' : `Argo CD compares at ${at}`
  },
  Synced: (_steps, _task, { operation }) =>
    operation === undefined ? 'In sync' : `Sync operation ${operation.toLowerCase()}`,
  Healthy: (_steps, { images }) => (images.length === 1 ? `${images[0]?.tag} runs` : `All ${images.length} images run`),
  Settled: (_steps, task) => `Deployed in ${duration(task.updated - task.created)}`,
}

/** What Argo CD showed last of each value. */
const lastShown = (events: readonly TaskEvent[]): TaskEventData => Object.assign({}, ...events.map(({ data }) => data))
