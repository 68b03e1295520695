import { LineCounter, parseDocument } from 'yaml'
import type { z } from 'zod'
import { isInScope } from '../auth/access/scope.ts'
import type { CiRule } from '../auth/ci/ci-rule.ts'
import { readSecret } from '../notify/targets/secret-reader.ts'
import { isHostTarget, type Notifications, noNotifications, secretsOf } from '../notify/targets/target.ts'
import { findSimilarName } from '../settings/find-similar-name.ts'
import { ConfigDocument } from './config-document.ts'

type Environment = Readonly<Record<string, string | undefined>>

export type Config = {
  readonly ciRules: readonly CiRule[]
  /** Globs of applications with the environment of their deployments, the most exact first. */
  readonly environments: readonly (readonly [glob: string, environment: string])[]
  readonly notifications: Notifications
}

export const emptyConfig: Config = { ciRules: [], environments: [], notifications: noNotifications }

/** The environment that `environments` gives to deployments of an application: that of the most exact glob that fits. */
export const environmentFor = ({ environments }: Config, app: string): string | undefined =>
  environments.find(([glob]) => isInScope(app, [glob]))?.[1]

/** By how much they leave open: the order in the file is lost where Helm or another tool writes it. */
function compareGlobs(one: string, other: string): number {
  const [literals, wildcards] = [/[^*?]/g, /[*?]/g].map(
    (kind) => (other.match(kind)?.length ?? 0) - (one.match(kind)?.length ?? 0),
  )
  return literals || -(wildcards ?? 0) || (one < other ? -1 : 1)
}

const maxBytes = 1_048_576
const kinds = ['webhook', 'slack', 'mattermost', 'teams', 'devlake', 'cdevents', 'otlp', 'github', 'gitlab']
/** Names of sections and of their fields, for those that are misspelt. */
const knownNames = [
  ...['ci_identities', 'environments', 'name', 'issuer', 'audience', 'match', 'apps'],
  ...[
    'notifications',
    'targets',
    'routes',
    'events',
    'anonymous',
    'kind',
    'secret',
    'token',
    'channel',
    'allow_private',
    'repositories',
    'commit_status',
  ],
]

/**
 * Reads the configuration file.
 * @param publicUrl PUBLIC_URL: the audience of a rule that names none
 * @param environment where secrets of targets are looked for; undefined: they are not
 * @returns the configuration, or a line for each mistake: the path in the file, then the rule
 */
export function parseConfig(
  text: string,
  publicUrl: string | undefined,
  environment?: Environment,
): { readonly config: Config } | { readonly issues: readonly string[] } {
  if (text.trim() === '') return { issues: ['the file is empty: write {} for no configuration'] }
  if (Buffer.byteLength(text) > maxBytes) return { issues: ['the file must be at most 1 MiB'] }
  const document = readYaml(text)
  if ('issues' in document) return document
  const parsed = ConfigDocument.safeParse(document.value ?? {}, { reportInput: true })
  if (!parsed.success) return { issues: parsed.error.issues.flatMap(textsOf) }
  const { ci_identities: rules = [], environments = {}, notifications } = parsed.data
  const issues: string[] = rules.flatMap(({ audience = publicUrl }, at) =>
    audience === undefined ? [`ci_identities[${at}].audience: is required where PUBLIC_URL is not set`] : [],
  )
  const targets = new Map(Object.entries(notifications?.targets ?? {}))
  if (environment !== undefined) issues.push(...secretIssues(targets, environment), ...hostIssues(targets, environment))
  if (issues.length > 0) return { issues }
  return {
    config: {
      ciRules: rules.map((rule) => ({ ...rule, audience: rule.audience ?? publicUrl ?? '' })),
      environments: Object.entries(environments).toSorted(([one], [other]) => compareGlobs(one, other)),
      notifications: { targets, routes: notifications?.routes ?? [] },
    },
  }
}

/** Secrets that are not where the file says. */
function secretIssues(targets: Notifications['targets'], environment: Environment): readonly string[] {
  return [...targets].flatMap(([name, target]) =>
    secretsOf(target).flatMap(([field, reference]) => {
      const read = readSecret(reference, environment)
      return 'issue' in read ? [`${pathText(['notifications', 'targets', name, field])}: ${read.issue}`] : []
    }),
  )
}

const neededBy = { github: 'GITHUB_APP_ID', gitlab: 'GITLAB_TOKEN' } as const

/** Targets whose credential is a setting that is not given. */
const hostIssues = (targets: Notifications['targets'], environment: Environment): readonly string[] =>
  [...targets].flatMap(([name, target]) => {
    const setting = isHostTarget(target) ? neededBy[target.kind] : undefined
    const isMissing = setting !== undefined && !environment[setting] && !environment[`${setting}_FILE`]
    return isMissing ? [`${pathText(['notifications', 'targets', name])}: needs the setting ${setting}`] : []
  })

function readYaml(text: string): { readonly value: unknown } | { readonly issues: readonly string[] } {
  const lineCounter = new LineCounter()
  try {
    const document = parseDocument(text, { lineCounter, prettyErrors: false })
    if (document.errors.length === 0) return { value: document.toJS({ maxAliasCount: 100 }) }
    return {
      issues: document.errors.map(({ message, pos: [at] }) => {
        const { line, col } = lineCounter.linePos(at)
        return `line ${line}, column ${col}: ${message}`
      }),
    }
  } catch (error) {
    return { issues: [error instanceof Error ? error.message : String(error)] } // too many aliases
  }
}

function textsOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${pathText([...issue.path, key])}: is not known${suggestion(key)}`)
  if (issue.code === 'invalid_union') {
    if (issue.errors.length === 0) return [`${pathText(issue.path)}: must be one of ${kinds.join(', ')}`]
    // Each other union here is of one value and a list, or of two maps with a field each.
    const meant = issue.errors.at(Array.isArray(issue.input) ? -1 : 0) ?? []
    return meant.flatMap((one) => textsOf({ ...one, path: [...issue.path, ...one.path] }))
  }
  const path = pathText(issue.path)
  return [`${path === '' ? 'the file' : `${path}:`} ${ruleOf(issue)}`]
}

const expectedTexts: Readonly<Record<string, string>> = {
  array: 'must be a list',
  object: 'must be a map',
  record: 'must be a map',
  string: 'must be a string',
}

function ruleOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_type' && issue.code !== 'invalid_value') return issue.message
  if (issue.input === undefined) return 'is required'
  return issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')
    ? (expectedTexts[issue.expected] ?? issue.message)
    : issue.message
}

const suggestion = (key: string) => {
  const similar = findSimilarName(key, knownNames)
  return similar === undefined ? '' : `: did you mean ${similar}?`
}

/** `ci_identities[0].match.ref`; what is no plain name stands in brackets. */
const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part) =>
      typeof part === 'number'
        ? `[${part}]`
        : /^[\w-]+$/.test(String(part))
          ? `.${String(part)}`
          : `[${JSON.stringify(part)}]`,
    )
    .join('')
    .replace(/^\./, '')
