const unitMs: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])
const dayMs = 86_400_000
const maxLength = 100

/** What {@link parseDuration} reads, for messages. */
export const durationUpTo = (max: string) => `a duration of at most ${max} such as 120, 120s, 2m or 1m30s`
export const durationForm = durationUpTo('24h')

/**
 * Reads `120` (seconds), `120s`, `2m`, `1m30s`, `500ms` or `0`: the one form of durations, in settings, annotations and
 * commands (decision 0011).
 *
 * @returns milliseconds; undefined for anything else, and for more than `maxMs`, a day
 */
export function parseDuration(text: string, maxMs = dayMs): number | undefined {
  const value = /^\d{1,9}$/.test(text) ? `${text}s` : text
  if (value.length > maxLength || !/^(\d{1,9}(\.\d{1,6})?(ms|s|m|h|d))+$/.test(value)) return undefined
  const parts = [...value.matchAll(/(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h|d)/g)]
  const total = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs.get(unit ?? '') ?? 0), 0)
  return total <= maxMs ? Math.round(total) : undefined
}
