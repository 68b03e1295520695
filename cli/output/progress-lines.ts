import { causeOf, isCause } from '../../contract/causes.ts'
import { awaitedOf, type ConditionName } from '../../contract/conditions.ts'
import type { TaskEvent, TaskEventData } from '../../contract/task-event.ts'

const shortSha = (commit: string) => commit.slice(0, 7)

const failedOperations: ReadonlySet<string> = new Set(['Failed', 'Error'])

/** What the events of one task say to the log of a pipeline, from their values; each thing once. */
export function createProgressLines() {
  let commit: string | undefined
  let isPickedUp = false
  let awaited: string | undefined
  const shown: { sync?: string; operation?: string; health?: string } = {}

  /** Remembers a value; true where it is another one than before. */
  const isNews = (part: keyof typeof shown, value: string | undefined): value is string => {
    if (value === undefined || shown[part] === value) return false
    shown[part] = value
    return true
  }

  const ofApplication = ({ revisions = [], operation, sync, health }: TaskEventData): (string | undefined)[] => {
    const picksUp = !isPickedUp && commit !== undefined && revisions.includes(commit)
    isPickedUp ||= picksUp
    return [
      picksUp ? 'Argo CD picked it up' : undefined,
      isNews('operation', operation) && failedOperations.has(operation) ? 'sync operation failed' : undefined,
      isNews('sync', sync) ? wordsOfSync(sync) : undefined,
      isNews('health', health) ? `health: ${health}` : undefined,
    ]
  }
  /** That the state in Git differs is news where somebody else committed. */
  const wordsOfSync = (sync: string): string | undefined => {
    if (sync === 'OutOfSync') return commit === undefined ? 'out of sync' : undefined
    return sync === 'Synced' ? 'synced' : `sync: ${sync}`
  }

  const ofEvent = ({ kind, data = {} }: TaskEvent): (string | undefined)[] => {
    switch (kind) {
      case 'superseded_others':
        return [superseded(data.superseded?.length ?? 0)]
      case 'application_confirmed':
        ofApplication(data) // the state before this deployment is no progress
        return []
      case 'commit_pushed':
        commit = data.commit
        return [`committed ${shortSha(data.commit ?? '')} to ${data.branch}`]
      case 'commit_unchanged':
        return [`nothing to commit: ${data.branch} has these tags already`]
      case 'write_back_skipped':
        return [data.cause === undefined ? undefined : `not committed: ${headlineOf(data.cause)}`]
      case 'write_back_retry':
        return ['the commit failed; it is tried again']
      case 'waiting_for':
        return [data.cause === undefined ? lines.awaits(data.condition) : headlineOf(data.cause)]
      case 'sync_changed':
      case 'operation_changed':
      case 'health_changed':
      case 'images_changed':
        return ofApplication(data)
      default:
        return []
    }
  }

  const lines = {
    of: (event: TaskEvent): readonly string[] => ofEvent(event).filter((line) => line !== undefined),
    /** Of a condition that is not met. */
    awaits(condition: string | undefined): string | undefined {
      if (condition === undefined || condition === awaited || !Object.hasOwn(awaitedOf, condition)) return undefined
      awaited = condition
      return `waiting for ${awaitedOf[condition as ConditionName]}`
    },
  }
  return lines
}

const headlineOf = (cause: string): string => (isCause(cause) ? causeOf(cause).headline : cause)

const superseded = (count: number) =>
  count === 0 ? undefined : `replaces ${count} older ${count === 1 ? 'deployment' : 'deployments'}`
