import { findSimilarName } from './find-similar-name.ts'
import { type Environment, variableNames } from './setting-texts.ts'

/** What Kubernetes sets for each Service of the namespace, whatever its name resembles. */
const serviceVariable = /_SERVICE_(HOST|PORT(_.+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/

/** A line for each variable that is no setting and resembles one, as a typing error does. */
export function unknownNameWarnings(environment: Environment, settings: Iterable<string>): string[] {
  const known = new Set([...settings].flatMap(variableNames))
  return Object.keys(environment).flatMap((given) => {
    if (known.has(given) || serviceVariable.test(given)) return []
    const likely = findSimilarName(given, known)
    return likely === undefined ? [] : [`${given} is not a setting and is ignored: did you mean ${likely}?`]
  })
}
