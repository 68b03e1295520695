/** The most calls that began within any one second, wherever it begins. */
export function busiestSecond(callsAtMs: readonly number[]): number {
  return Math.max(0, ...callsAtMs.map((fromMs) => callsAtMs.filter((ms) => ms >= fromMs && ms < fromMs + 1_000).length))
}
