import { z } from 'zod'
import { line } from '../../../contract/field-schemas.ts'
import { isLoopback } from '../../settings/address-text.ts'
import type { Scope } from '../access/scope.ts'

/** Which pipelines of one issuer may deploy which applications: an entry of `ci_identities`. */
export type CiRule = {
  readonly name: string
  /** `iss` of its tokens, exactly. */
  readonly issuer: string
  /** `aud` of its tokens, exactly. */
  readonly audience: string
  /** Claims with the values that each may have. */
  readonly match: Readonly<Record<string, readonly string[]>>
  readonly apps: Scope
}

export type Provider = 'github' | 'gitlab' | 'circleci' | 'buildkite'

/** Claims that name a repository or its owner by an id that is never given a second time. */
export const pinnedIds: ReadonlyMap<string, Provider> = new Map([
  ['repository_id', 'github'],
  ['repository_owner_id', 'github'],
  ['project_id', 'gitlab'],
  ['namespace_id', 'gitlab'],
  ['oidc.circleci.com/project-id', 'circleci'],
  ['pipeline_id', 'buildkite'],
])

/** The CIs whose ids a rule pins. */
export const providersOf = ({ match }: Pick<CiRule, 'match'>): ReadonlySet<Provider> =>
  new Set(Object.keys(match).flatMap((claim) => pinnedIds.get(claim) ?? []))

const ids = [...pinnedIds.keys()].join(', ')

const textOnly = {
  error: ({ input }: { readonly input?: unknown }) =>
    typeof input === 'number' || typeof input === 'boolean' ? 'must be a string: quote it' : 'must be a string',
}
const claimText = z.string(textOnly).min(1, 'must not be empty').max(500, 'must be at most 500 characters long')
const notEmpty = 'must be a list with at least one entry'

/** One value, or some of which a claim has one. */
const claimValues = z
  .union([claimText, z.array(claimText).min(1, notEmpty)])
  .transform((values): readonly string[] => [values].flat())
  .describe('The value of the claim, or a list of values of which it has one; a * at the end stands for more')

const issuer = z.string(textOnly).refine((text) => {
  const address = URL.parse(text)
  if (!address || /[?#@\s]/.test(text)) return false
  return address.protocol === 'https:' || (address.protocol === 'http:' && isLoopback(address.hostname))
}, 'must be an https:// address without user, query and fragment (http:// on a loopback address only)')

const appGlobs = z
  .union([z.literal('all', 'must be a list of names or globs, or all'), z.array(line(255)).min(1, notEmpty)])
  .describe('Applications: names or globs with * and ?, which do not match /; or all')

/** One entry of `ci_identities` as it is written. */
const CiRuleForm = z
  .strictObject({
    name: line(100).describe('Shown in the audit and, to its own pipelines, in errors'),
    issuer: issuer.describe('iss of the ID tokens, exactly'),
    audience: line(500).optional().describe('aud of the ID tokens, exactly; absent: PUBLIC_URL'),
    match: z.record(z.string(), claimValues).describe(`Claims that the ID token must have. One of ${ids} is required`),
    apps: appGlobs,
  })
  .superRefine(({ match }, context) => {
    const fault = (message: string, ...path: readonly string[]) =>
      context.addIssue({ code: 'custom', path: ['match', ...path], message })
    const providers = providersOf({ match })
    if (providers.size === 0) fault(`must name one of ${ids}: other claims may come to mean another repository`)
    if (providers.has('gitlab') && 'ref' in match && !('ref_type' in match))
      fault('must be named with ref: a tag may have the name of a branch', 'ref_type')
    for (const [claim, values] of Object.entries(match))
      for (const value of values) {
        if (!value.includes('*')) continue
        if (pinnedIds.has(claim)) fault('must be exact: an id has no pattern', claim)
        else if (claim === 'sub')
          fault('must be exact: its form changed in 2026; match its parts by their claims', claim)
        else if (value.indexOf('*') < value.length - 1) fault('must have a * at its end only', claim)
      }
  })

/** The section `ci_identities`: rules with names of their own. */
export const CiIdentities = z
  .array(CiRuleForm)
  .max(1_000)
  .superRefine((rules, context) => {
    for (const [at, { name }] of rules.entries())
      if (rules.findIndex((rule) => rule.name === name) < at)
        context.addIssue({
          code: 'custom',
          path: [at, 'name'],
          message: 'names two rules: give each a name of its own',
        })
  })
