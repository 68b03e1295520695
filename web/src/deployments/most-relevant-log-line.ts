const relevantWords = ['fatal', 'panic', 'exception', 'error']

/** The line of a log to read first: the last one that says why it ended. Undefined where none does. */
export function mostRelevantLogLine(lines: readonly string[]): number | undefined {
  const index = lines.findLastIndex((line) => {
    const text = line.toLowerCase()
    return relevantWords.some((word) => text.includes(word))
  })
  return index < 0 ? undefined : index
}
