import { echo } from '../../http/server/error-text.ts'
import { type CiRule, pinnedIds, providersOf } from './ci-rule.ts'

export type Claims = Readonly<Record<string, unknown>>

/** A claim for which a rule does not hold. */
export type Mismatch = { readonly claim: string; readonly text: string }

/** Events that run code which no maintainer has accepted: a rule has to name them. */
const untrustedEvents: readonly (readonly [claim: string, value: string])[] = [
  ['event_name', 'pull_request'],
  ['event_name', 'pull_request_target'],
  ['pipeline_source', 'merge_request_event'],
]
const sshRerun = 'oidc.circleci.com/ssh-rerun'

/** Where a rule does not hold for the claims of a token: pinned ids first, then as the rule lists them; empty: it holds. */
export function mismatchesOf(claims: Claims, rule: Pick<CiRule, 'match'>): readonly Mismatch[] {
  const wanted = Object.entries(rule.match)
  const [pinned, others] = [wanted.filter(isPinned), wanted.filter((one) => !isPinned(one))]
  return [...pinned, ...others]
    .filter(([claim, values]) => !values.some((value) => isOfValue(textOf(claims, claim), value, claim)))
    .map(([claim, values]) => ({
      claim,
      text: `${shown(claims, claim)}, must be ${values.map((one) => echo(one)).join(' or ')}`,
    }))
    .concat(untrusted(claims, rule))
}

/** Whether a token is of the repository that a rule is about. */
export const holdsPinnedIds = (claims: Claims, rule: Pick<CiRule, 'match'>): boolean =>
  !mismatchesOf(claims, rule).some(({ claim }) => pinnedIds.has(claim))

function untrusted(claims: Claims, rule: Pick<CiRule, 'match'>): readonly Mismatch[] {
  const faults = untrustedEvents
    .filter(([claim, value]) => claims[claim] === value && !rule.match[claim]?.includes(value))
    .map(([claim]) => ({ claim, text: `${shown(claims, claim)}, which the rule has to name` }))
  const isRerun = providersOf(rule).has('circleci') && claims[sshRerun] !== false
  return isRerun ? [...faults, { claim: sshRerun, text: `${shown(claims, sshRerun)}, must be false` }] : faults
}

const isPinned = ([claim]: readonly [string, unknown]) => pinnedIds.has(claim)

function isOfValue(text: string | undefined, value: string, claim: string): boolean {
  if (text === undefined) return false
  if (!value.endsWith('*') || pinnedIds.has(claim)) return text === value
  const start = value.slice(0, -1)
  return text.startsWith(start) && !/[:/]/.test(text.slice(start.length))
}

/** A service that stands beside ours in `aud` could send the token on to us. */
export const isForAudienceAlone = (aud: unknown, audience: string): boolean =>
  Array.isArray(aud) ? aud.length === 1 && aud[0] === audience : aud === audience

/** A claim as a text: some CIs write numbers and booleans bare. Undefined where it is absent, or a list or an object. */
export function textOf(claims: Claims, claim: string): string | undefined {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

const shown = (claims: Claims, claim: string): string => {
  const text = textOf(claims, claim)
  return text === undefined ? `${claim} is missing` : `${claim} is ${echo(text)}`
}
