/**
 * Letters that were left out, added or replaced, and neighbours that changed places (optimal string alignment); infinity
 * above `max`. Only cells that `max` edits can reach are computed.
 */
export function editDistance(one: string, other: string, max: number): number {
  if (Math.abs(one.length - other.length) > max) return Number.POSITIVE_INFINITY
  const cell = (row: readonly number[], column: number) => row[column] ?? Number.POSITIVE_INFINITY
  let beforeLast: number[] = []
  let last = Array.from({ length: Math.min(other.length, max) + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current: number[] = []
    if (row <= max) current[0] = row
    for (let column = Math.max(1, row - max); column <= Math.min(other.length, row + max); column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwapped = column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current[column] = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + (isSame ? 0 : 1),
        isSwapped && row > 1 ? cell(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    beforeLast = last
    last = current
  }
  const edits = cell(last, other.length)
  return edits <= max ? edits : Number.POSITIVE_INFINITY
}
