import fc from 'fast-check'
import type { HistoryScript } from './history-script.ts'
import { type HistoryResult, runHistory } from './run-history.ts'
import { aScript } from './script-arbitrary.ts'

/** The script of a seed: the same seed gives the same script, and a script is always played the same way. */
export function scriptOf(seed: number): HistoryScript {
  const [script] = fc.sample(aScript, { seed, numRuns: 1 })
  if (script === undefined) throw new Error('a seed gives one script')
  return script
}

export const playSeed = (seed: number): Promise<HistoryResult> => runHistory(scriptOf(seed))

/** The smallest script found that still shows what it must not, with what it shows; `undefined`: the seed shows nothing. */
export async function shrinkSeed(
  seed: number,
  limitMs: number,
): Promise<{ readonly script: HistoryScript; readonly violations: readonly string[] } | undefined> {
  const showsNothing = fc.asyncProperty(aScript, async (script) => (await runHistory(script)).violations.length === 0)
  const { counterexample } = await fc.check(showsNothing, { seed, numRuns: 1, interruptAfterTimeLimit: limitMs })
  const script = counterexample?.[0]
  return script === undefined ? undefined : { script, violations: (await runHistory(script)).violations }
}
