import { editDistance } from './edit-distance.ts'

/** How many edits away a name of this length may be; a short one is too easily another word. */
const maxEdits = (name: string) => (name.length < 6 ? 0 : name.length < 9 ? 1 : 2)

/** The one of `known` that `given` was probably meant to be; case does not count, nor which of `-` and `_` joins words. */
export function findSimilarName(given: string, known: Iterable<string>): string | undefined {
  const typed = normalize(given)
  let nearest: { readonly name: string; readonly edits: number } | undefined
  for (const name of known) {
    const edits = editDistance(typed, normalize(name), maxEdits(name))
    if (edits <= maxEdits(name) && edits < (nearest?.edits ?? Number.POSITIVE_INFINITY)) nearest = { name, edits }
  }
  return nearest?.name
}

const normalize = (name: string) => name.toUpperCase().replaceAll('-', '_')
