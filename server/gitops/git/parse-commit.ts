export type Commit = {
  readonly parents: readonly string[]
  /** Named by its trailers. */
  readonly tasks: readonly string[]
}

const parentLine = /^parent ([0-9a-f]{40})$/gm
/** Of commit-message.ts; git takes the names of trailers in any case. */
const trailerLine = /^Watcher-Task:[ \t]*(\S+)[ \t]*$/gim

/** Reads a raw commit. Trailers stand in the last paragraph of a message, which is not its first. */
export function parseCommit(text: string): Commit {
  const end = text.indexOf('\n\n')
  const [, ...paragraphs] = text
    .slice(end)
    .trim()
    .split(/\n\s*\n/)
  // copied, for what a pattern found is a view of the whole text, and would keep it in memory
  return structuredClone({
    parents: firstGroups(text.slice(0, end), parentLine),
    tasks: firstGroups(paragraphs.at(-1) ?? '', trailerLine),
  })
}

const firstGroups = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, group = '']) => group)
