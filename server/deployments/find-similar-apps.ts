import { editDistance } from '../settings/edit-distance.ts'

/** How many edits away a name may be; a short one is too easily another word. */
export const maxAppEdits = 3
const editsFor = (name: string) => (name.length < 5 ? 1 : name.length < 9 ? 2 : maxAppEdits)

/** Names that `wanted` was probably meant to be, the nearest first. Case does not count. */
export function findSimilarApps(wanted: string, known: Iterable<string>): string[] {
  const typed = wanted.toLowerCase()
  return [...new Set(known)]
    .map((name) => ({ name, edits: editDistance(typed, name.toLowerCase(), editsFor(typed)) }))
    .filter(({ name, edits }) => edits <= maxAppEdits && name !== wanted)
    .sort((one, other) => one.edits - other.edits || (one.name < other.name ? -1 : 1))
    .map(({ name }) => name)
}
