import { noBreak } from './figure.ts'

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** `41 s`, `1 min 12 s`, `2 h 45 min`: at most two units, each after a no-break space. Below 0 counts as 0. */
export function duration(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds))
  const parts = units.map(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return { unit, count }
  })
  const first = parts.findIndex(({ count }) => count > 0)
  if (first < 0) return `0${noBreak}s`
  return parts
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ unit, count }) => `${count}${noBreak}${unit}`)
    .join(' ')
}

/** The same with tenths below 10 s, where they make a difference: `1.1 s`. */
export const fineDuration = (seconds: number): string =>
  seconds < 10 ? `${(Math.floor(Math.max(0, seconds) * 10) / 10).toFixed(1)}${noBreak}s` : duration(seconds)
