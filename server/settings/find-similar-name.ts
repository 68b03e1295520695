/** How many edits away a name of this length may be; a short one is too easily another word. */
const maxEdits = (name: string) => (name.length < 6 ? 0 : name.length < 9 ? 1 : 2)

/** The one of `known` that `given` was probably meant to be; case does not count, nor which of `-` and `_` joins words. */
export function findSimilarName(given: string, known: Iterable<string>): string | undefined {
  const typed = normalize(given)
  let nearest: { readonly name: string; readonly edits: number } | undefined
  for (const name of known) {
    if (Math.abs(name.length - typed.length) > maxEdits(name)) continue
    const edits = editDistance(typed, normalize(name))
    if (edits <= maxEdits(name) && edits < (nearest?.edits ?? Number.POSITIVE_INFINITY)) nearest = { name, edits }
  }
  return nearest?.name
}

const normalize = (name: string) => name.toUpperCase().replaceAll('-', '_')

/** Letters that were left out, added or replaced, and neighbours that changed places (optimal string alignment). */
function editDistance(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwapped = column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped && row > 1 ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    beforeLast = last
    last = current
  }
  return last[other.length] ?? 0
}
