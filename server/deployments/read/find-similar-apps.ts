import { findSimilarNames } from '../../settings/find-similar-name.ts'

/** How many edits away a name may be; a short one is too easily another word. */
export const maxAppEdits = 3
const editsFor = (name: string) => (name.length < 5 ? 1 : name.length < 9 ? 2 : maxAppEdits)

/** Names that `wanted` was probably meant to be, the nearest first. */
export const findSimilarApps = (wanted: string, known: Iterable<string>): string[] =>
  findSimilarNames(wanted, known, () => editsFor(wanted))
