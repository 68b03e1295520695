const maxPauseMs = 4_000

/** How long to wait after so many failures in a row: it doubles from a quarter of a second up to 4 s. */
export function retryPauseMs(failures: number, random: () => number): number {
  return Math.min(maxPauseMs, 125 * 2 ** failures * (0.75 + random() / 2))
}
