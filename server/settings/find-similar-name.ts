import { distance } from 'fastest-levenshtein'

/** How many edits away a name of this length may be; a short one is too easily another word. */
const maxEdits = (name: string) => (name.length < 6 ? 0 : name.length < 9 ? 1 : 2)

/** The one of `known` that `given` was probably meant to be. */
export const findSimilarName = (given: string, known: Iterable<string>): string | undefined =>
  findSimilarNames(given, known, maxEdits)[0]

/**
 * Those of `known` that `given` was probably meant to be, the nearest first; `maxEditsOf` says how many edits away one may
 * be. Case does not count, nor which of `-` and `_` joins words.
 */
export function findSimilarNames(
  given: string,
  known: Iterable<string>,
  maxEditsOf: (name: string) => number,
): string[] {
  const typed = normalize(given)
  return [...new Set(known)]
    .map((name) => ({ name, edits: distance(typed, normalize(name)) }))
    .filter(({ name, edits }) => edits <= maxEditsOf(name) && name !== given)
    .sort((one, other) => one.edits - other.edits || (one.name < other.name ? -1 : 1))
    .map(({ name }) => name)
}

const normalize = (name: string) => name.toUpperCase().replaceAll('-', '_')
