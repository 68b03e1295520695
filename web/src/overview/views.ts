import type { AppSummary } from '../../../contract/app-summary.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'

/** An application whose newest deployment did not work. */
export type Attention = {
  readonly app: string
  readonly id: string
  readonly status: TaskStatus
  /** More about that task; undefined while a newer one of the application is in progress. */
  readonly details: AppSummary['latest']
}

const isBad = (status: TaskStatus | undefined): boolean => status === 'failed' || status === 'aborted'

/** The newest of its tasks with an outcome, where that is failed or aborted. A cancelled one and one in progress have none. */
export function attentionOf({ app, recent, latest }: AppSummary): Attention | undefined {
  const decided = recent.find(({ status }) => status === 'deployed' || isBad(status)) ?? latest
  if (decided === undefined || !isBad(decided.status)) return undefined
  const { id, status } = decided
  return { app, id, status, details: latest?.id === id ? latest : undefined }
}

/** Those that need attention, the newest end first. */
export const attentionsOf = (apps: readonly AppSummary[]): readonly Attention[] =>
  apps
    .flatMap((summary) => attentionOf(summary) ?? [])
    .toSorted((a, b) => (b.details?.ended ?? 0) - (a.details?.ended ?? 0) || (a.app < b.app ? -1 : 1))

/** Whether one of its last tasks is in progress. */
export const isRollingOut = ({ recent }: AppSummary): boolean => recent.some(({ status }) => status === 'in progress')

/** Those that need attention, then those that roll out, then the latest. */
export function sortTiles(apps: readonly AppSummary[]): readonly AppSummary[] {
  const rank = (summary: AppSummary) => (attentionOf(summary) !== undefined ? 0 : isRollingOut(summary) ? 1 : 2)
  const ranked = apps.map((summary) => ({ summary, rank: rank(summary) }))
  return ranked
    .toSorted((a, b) => a.rank - b.rank || latestAt(b.summary) - latestAt(a.summary))
    .map(({ summary }) => summary)
}

const latestAt = ({ latest, last_deployment: last }: AppSummary) => latest?.created ?? last?.created ?? 0

/**
 * The longest beyond its usual time first. All of them age alike, so the order is that of the moments at which they are
 * usually done, and no row moves while time passes. Those without a usual time come last.
 */
export function sortRollouts(tasks: readonly TaskRecord[], apps: readonly AppSummary[]): readonly TaskRecord[] {
  const usual = new Map(apps.map(({ app, median_seconds }) => [app, median_seconds]))
  const due = ({ app, created }: TaskRecord) => {
    const median = usual.get(app)
    return median === undefined ? [1, created] : [0, created + median]
  }
  return tasks.toSorted((a, b) => {
    const [[groupA = 0, atA = 0], [groupB = 0, atB = 0]] = [due(a), due(b)]
    return groupA - groupB || atA - atB
  })
}

/** Rows by their key, in the order in which they are shown. */
type Keyed = { readonly key: string }

/**
 * What a section shows: the newest rows, or, while it is held, the rows that it has shown, with what is newest of each.
 * Then new ones wait, and one that is gone stays as it was last.
 */
export function holdRows<Row extends Keyed>(shown: readonly Row[], latest: readonly Row[], isHeld: boolean) {
  if (!isHeld) return latest
  const newest = new Map(latest.map((row) => [row.key, row]))
  return shown.map((row) => newest.get(row.key) ?? row)
}
