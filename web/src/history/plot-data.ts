import type { HistoryDay } from '../../../contract/history.ts'
import type { FinalStatus } from '../../../contract/task-status.ts'
import type { LockedRange } from '../locks/next-changes.ts'

/** The outcomes of a bar, from its base up. */
export const stackedStatuses = ['deployed', 'failed', 'aborted'] as const satisfies readonly FinalStatus[]
export type StackedStatus = (typeof stackedStatuses)[number]

/** The tops of the parts of each day's bar, in the order of `stackedStatuses`. */
export const stackTops = (days: readonly HistoryDay[]): readonly (readonly number[])[] =>
  stackedStatuses.map((_, part) =>
    days.map(({ counts }) =>
      stackedStatuses.slice(0, part + 1).reduce((sum, status) => sum + (counts[status] ?? 0), 0),
    ),
  )

/** The part of a day's bar at a height; undefined above the bar. */
export function partAt({ counts }: HistoryDay, height: number): StackedStatus | undefined {
  let top = 0
  return stackedStatuses.find((status) => {
    top += counts[status] ?? 0
    return height >= 0 && height < top
  })
}

/** Where a moment is on an axis on which day `n` goes from `n - 0.5` to `n + 0.5`, however many hours it has. */
export function placeOf(days: readonly HistoryDay[], at: number): number {
  const index = days.findIndex(({ to }) => at < to)
  const day = days[index]
  if (day === undefined) return days.length - 0.5
  return index - 0.5 + Math.max(0, at - day.from) / (day.to - day.from)
}

/** Fields of the time for which deployments were locked. */
export const lockedFields = (days: readonly HistoryDay[], ranges: readonly LockedRange[]) =>
  ranges.map(({ from, to }) => [placeOf(days, from), placeOf(days, to)] as const)

/** Evenly spread days to write below the axis, the first and the last among them. */
export function labelledDays(count: number, labels: number): readonly number[] {
  if (count <= labels) return Array.from({ length: count }, (_, index) => index)
  return Array.from({ length: labels }, (_, index) => Math.round((index * (count - 1)) / (labels - 1)))
}

const durationSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400]
const maxSteps = 4

/** Values of an axis of durations from 0 to above the largest one, in steps that one can read: seconds. */
export function durationTicks(largest: number): readonly number[] {
  const days = Math.ceil(largest / 86_400 / maxSteps) * 86_400
  const step = durationSteps.find((one) => one * maxSteps >= largest) ?? days
  return Array.from({ length: Math.ceil(Math.max(1, largest) / step) + 1 }, (_, index) => index * step)
}

/** Values of an axis of counts from 0 to above the largest one. */
export function countTicks(largest: number): readonly number[] {
  const magnitude = 10 ** Math.floor(Math.log10(Math.max(1, largest / maxSteps)))
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((factor) => factor * magnitude).find((one) => one * maxSteps >= largest) ?? 1,
  )
  return Array.from({ length: Math.ceil(Math.max(1, largest) / step) + 1 }, (_, index) => index * step)
}

/** Values of an axis of shares from a multiple of 5 % below the smallest one to 100 %. */
export function shareTicks(smallest: number): readonly number[] {
  const from = Math.min(95, Math.floor((smallest * 100) / 5) * 5)
  const step = Math.max(5, Math.ceil((100 - from) / maxSteps / 5) * 5)
  const count = Math.ceil((100 - from) / step)
  return Array.from({ length: count + 1 }, (_, index) => Math.max(0, 100 - (count - index) * step) / 100)
}

/** Values between two gaps, which no line joins: they are drawn as points. */
export const lonelyPoints = (values: readonly (number | null)[]): readonly number[] =>
  values.flatMap((value, index) =>
    value !== null && (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null ? [index] : [],
  )
