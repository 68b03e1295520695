import type { AppSummary } from '../../../contract/app-summary.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'
import { type VersionChange, versionChange } from '../ui/version-change.ts'

/** An application whose newest deployment did not work. */
export type Attention = {
  readonly app: string
  readonly id: string
  readonly status: TaskStatus
  readonly change: VersionChange
  /** More about that task, where it is the newest one. */
  readonly details: AppSummary['latest']
}

const isBad = (status: TaskStatus | undefined): boolean => status === 'failed' || status === 'aborted'

/** The newest of its tasks with an outcome, where that is failed or aborted. */
function lastBad({ recent, latest }: AppSummary): Pick<AppSummary['recent'][number], 'id' | 'status'> | undefined {
  const decided = recent.find(({ status }) => status === 'deployed' || isBad(status)) ?? latest
  return decided !== undefined && isBad(decided.status) ? decided : undefined
}

/** Undefined where its newest deployment worked, or a newer one is under way. A cancelled one is neither. */
export function attentionOf(summary: AppSummary): Attention | undefined {
  const bad = lastBad(summary)
  if (bad === undefined || isRollingOut(summary)) return undefined
  const { app, latest } = summary
  const { id, status } = bad
  return { app, id, status, change: changeOf(summary), details: latest?.id === id ? latest : undefined }
}

/** The failed tasks that a rollout is to repair: ids by application. */
export const failedBefore = (apps: readonly AppSummary[]): ReadonlyMap<string, string> =>
  new Map(
    apps.filter(isRollingOut).flatMap((summary) => {
      const bad = lastBad(summary)
      return bad === undefined ? [] : [[summary.app, bad.id] as const]
    }),
  )

/** Those that need attention, the newest end first. */
export const attentionsOf = (apps: readonly AppSummary[]): readonly Attention[] =>
  apps
    .flatMap((summary) => attentionOf(summary) ?? [])
    .toSorted((a, b) => (b.details?.ended ?? 0) - (a.details?.ended ?? 0) || (a.app < b.app ? -1 : 1))

/** What the newest deployment changes, as far as the summary tells: it has the first images only. */
export function changeOf({ latest, last_deployment: last }: AppSummary): VersionChange {
  const { images = [], image_count: count = 0, id } = latest ?? last ?? {}
  if (count > images.length) return { from: '', to: images[0]?.tag ?? '', note: `and ${count - 1} more images` }
  return versionChange(last?.id === id ? undefined : last?.images, images)
}

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
