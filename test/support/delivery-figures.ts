import { expect } from 'vitest'
import type { HistoryPeriod } from '../../contract/history.ts'
import type { StoredTask } from './store-tasks.ts'

/** A stored task with an end, in Unix seconds as the database rounds it. */
export type EndedTask = StoredTask & {
  readonly id: string
  readonly app: string
  readonly status: string
  readonly ended: number
}
type Figures = Pick<
  HistoryPeriod,
  'deploy_frequency' | 'lead_time' | 'change_failure_rate' | 'time_to_restore' | 'rollbacks'
>
type Period = {
  readonly from: number
  readonly to: number
  readonly days: number
  /** Where failures begin to count. */
  readonly failuresFrom: number
}

/** The delivery figures of a period, computed by a walk through all tasks in the order of their ends. */
export function deliveryFiguresOf(
  matching: readonly EndedTask[],
  all: readonly EndedTask[],
  { from, to, days, failuresFrom }: Period,
): Figures {
  const shipped = new Set<string>()
  const brokenSince = new Map<string, number>()
  const leads: number[] = []
  const restores: number[] = []
  const rollbacks = new Map<string | undefined, number>()
  let [deployed, failed] = [0, 0]
  for (const task of matching.toSorted(byEnd)) {
    const { app, status, ended, source } = task
    const isInside = ended >= from && ended < to
    if (status === 'failed') {
      if (isInside) failed += 1
      if (ended >= failuresFrom && !brokenSince.has(app)) brokenSince.set(app, ended)
    }
    if (status !== 'deployed') continue
    const since = brokenSince.get(app)
    brokenSince.delete(app)
    const isFirst = source != null && !shipped.has(source.sha)
    if (source != null) shipped.add(source.sha)
    if (!isInside) continue
    deployed += 1
    if (since !== undefined) restores.push(ended - since)
    if (isFirst && source.committed_at !== undefined && source.committed_at <= ended)
      leads.push(ended - source.committed_at)
    if (task.is_rollback === true) {
      const cause = causeBefore(task, all)
      rollbacks.set(cause, (rollbacks.get(cause) ?? 0) + 1)
    }
  }
  return {
    deploy_frequency: deployed / days,
    ...(leads.length > 0 && {
      lead_time: { median_seconds: quantile(leads, 0.5), p75_seconds: quantile(leads, 0.75), known: leads.length },
    }),
    ...(deployed + failed > 0 && { change_failure_rate: failed / (deployed + failed) }),
    ...(restores.length > 0 && {
      time_to_restore: { median_seconds: quantile(restores, 0.5), known: restores.length },
    }),
    rollbacks: [...rollbacks]
      .toSorted(([one = '~', count], [other = '~', otherCount]) => otherCount - count || (one < other ? -1 : 1))
      .map(([cause, count]) => ({ ...(cause !== undefined && { cause }), count })) as Figures['rollbacks'],
  }
}

const byEnd = (one: EndedTask, other: EndedTask) =>
  one.ended - other.ended || one.created - other.created || (one.id < other.id ? -1 : 1)

function causeBefore({ app, created }: EndedTask, all: readonly EndedTask[]): string | undefined {
  const before = all
    .filter((task) => task.app === app && task.created < created)
    .reduce<EndedTask | undefined>(
      (newest, task) => (newest && newest.created > task.created ? newest : task),
      undefined,
    )
  return before === undefined || before.status === 'deployed' ? undefined : (before.cause ?? undefined)
}

/** As percentile_cont. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  const position = (sorted.length - 1) * share
  const [low = 0, high = low] = sorted.slice(Math.floor(position))
  return low + (high - low) * (position % 1)
}

/** The same with numbers that may differ by a rounding. */
export const closely = <Value>(value: Value): Value => closeTo(value) as Value

function closeTo(value: unknown): unknown {
  if (typeof value === 'number') return expect.closeTo(value, 2)
  if (Array.isArray(value)) return value.map(closeTo)
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closeTo(one)]))
    : value
}
