import { echo } from '../../http/server/error-text.ts'
import { type CiRule, pinnedIds } from './ci-rule.ts'
import { type Claims, holdsPinnedIds, mismatchesOf, textOf } from './match-rule.ts'

/** `rules`: those that hold, at least one. */
export type ClaimsJudgement =
  | { readonly kind: 'allowed'; readonly rules: readonly CiRule[] }
  | { readonly kind: 'refused'; readonly reason: string }

/** Names of what an id stands for, in the order in which they are tried. */
const nameClaims = ['repository', 'project_path', 'repository_owner', 'namespace_path', 'pipeline_slug']

/**
 * Says which rules hold for the claims of an ID token of their issuer. Anybody can sign one for our audience, so a refusal
 * names a rule only to a token that holds the ids which this rule pins.
 */
export function judgeClaims(claims: Claims, rules: readonly CiRule[]): ClaimsJudgement {
  const judged = rules.map((rule) => ({ rule, mismatches: mismatchesOf(claims, rule) }))
  const held = judged.filter(({ mismatches }) => mismatches.length === 0).map(({ rule }) => rule)
  if (held.length > 0) return { kind: 'allowed', rules: held }
  const [nearest] = judged
    .filter(({ rule }) => holdsPinnedIds(claims, rule))
    .sort((one, other) => one.mismatches.length - other.mismatches.length)
  const [first] = nearest?.mismatches ?? []
  if (nearest && first) return { kind: 'refused', reason: `rule "${echo(nearest.rule.name)}": ${first.text}` }
  return { kind: 'refused', reason: `no rule for ${subjectOf(claims)}` }
}

/** Whom a token is of, in its own words. */
function subjectOf(claims: Claims): string {
  const id = [...pinnedIds.keys()].find((claim) => textOf(claims, claim) !== undefined)
  if (id === undefined) return `sub ${echo(textOf(claims, 'sub') ?? '')}`
  const name = nameClaims.map((claim) => textOf(claims, claim)).find((text) => text !== undefined)
  return `${id} ${echo(textOf(claims, id) ?? '')}${name === undefined ? '' : ` (${echo(name)})`}`
}
