import { plainWords } from './plain-words.ts'

/** `Metric "success-rate" assessed Failed due to failed (2) > failureLimit (1)`, in the words of all versions. */
const assessed = /metric "([^"]+)" assessed (\w+)(?: due to \w+ \((\d+)\) >=? \w+ \((\d+)\))?/i

const outcomes: Readonly<Record<string, string>> = {
  Failed: 'failed',
  Error: 'could not be measured',
  Inconclusive: 'was inconclusive',
}

/** Why a Rollout was aborted: `metric success-rate failed (2 > limit 1)`. '' where its message does not say. */
export function describeAbort(message: string): string {
  const [found, metric, outcome = '', count, limit] = assessed.exec(message) ?? []
  if (found !== undefined) {
    const figures = count === undefined ? '' : ` (${count} > limit ${limit})`
    return `metric ${metric} ${outcomes[outcome] ?? outcome}${figures}`
  }
  return plainWords(message)
    .replace(/^Rollout aborted update to revision \d+(?:: )?/, '')
    .replace(/^\S.*? analysis phase error\/failed: /, '')
}

/** The Rollout whose revision an AnalysisRun measures, as its name tells: `<rollout>-<hash>-<revision>`. */
export const rolloutOfAnalysisRun = (name: string): string | undefined =>
  /^(.+)-(?=[a-z0-9]*\d)[a-z0-9]{5,10}-\d+(?:-.+)?$/.exec(name)?.[1]
