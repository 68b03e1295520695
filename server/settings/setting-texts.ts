import { readFileSync, statSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

/** The texts of the settings that are given, wherever they are given, and what is wrong with where they are. */
export type SettingTexts = {
  readonly texts: Readonly<Record<string, string>>
  /** The variable that gives each of them. */
  readonly sourceOf: Readonly<Record<string, string>>
  readonly issues: readonly string[]
  /** What was ignored, for the log. */
  readonly warnings: readonly string[]
}

/** A name that means the same as another. */
const aliases = new Map([
  ['WATCHER_DEPLOY_TOKEN', 'ARGO_WATCHER_DEPLOY_TOKEN'],
  ['IDP_REQUIRE_READ_AUTH', 'OIDC_REQUIRE_TASK_READ_AUTH'],
])

/** Tokens and secrets that others present: a blank or a line end around one is left over from how it was stored. */
const trimmedNames: ReadonlySet<string> = new Set([
  'ARGO_TOKEN',
  'GITLAB_TOKEN',
  'IDP_CLIENT_SECRET',
  'JWT_SECRET',
  'JWT_SECRET_PREVIOUS',
  'WATCHER_DEPLOY_TOKEN',
])

/**
 * Looks up each setting by its names, and as the file that `<name>_FILE` names; several ways may give it if they agree.
 * Empty means not given, except `requiredNonEmpty`.
 */
export function gatherSettingTexts(
  environment: Environment,
  names: readonly string[],
  requiredNonEmpty: ReadonlySet<string>,
): SettingTexts {
  const texts: Record<string, string> = {}
  const sourceOf: Record<string, string> = {}
  const issues: string[] = []
  const warnings: string[] = []
  for (const name of names) {
    const ways = variableNames(name)
    const injected = ways.filter((way) => isServiceLink(way, environment[way]))
    for (const way of injected) warnings.push(`${way} is ignored: Kubernetes sets it for a Service of that name`)
    const given = ways.filter((way) => Boolean(environment[way]) && !injected.includes(way))
    const [first = name] = given
    const found = new Set(given.map((way) => read(name, way)).filter((text) => text !== undefined))
    const [text] = found
    if (found.size > 1) issues.push(`${name}: given more than once (${given.join(', ')}): keep one`)
    else if (text !== undefined) {
      texts[name] = text
      sourceOf[name] = first
    }
    if (given.length === 0 && requiredNonEmpty.has(name) && ways.some((way) => environment[way] === ''))
      texts[name] = ''
  }
  return { texts, sourceOf, issues, warnings }

  function read(name: string, way: string): string | undefined {
    const value = environment[way] ?? ''
    try {
      return isFileWay(name, way) ? readSecretFile(name, value) : withoutEnds(name, value)
    } catch (error) {
      issues.push(`${way}: the file cannot be read (${codeOf(error)})`)
      return undefined
    }
  }
}

/** What Kubernetes puts into a container for a Service named `db`: `DB_PORT=tcp://10.0.0.7:5432`. */
const isServiceLink = (way: string, value = '') => way.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value)

/**
 * Reads a credential again when its mounted file has changed, so that it can be rotated without a restart. While the file
 * is missing or blank, as in the middle of a rotation, the last good text counts (`keep`), or none, `''` (`drop`).
 */
export function credentialReader(
  environment: Environment,
  name: string,
  atStart: string,
  whenBlank: 'keep' | 'drop' = 'keep',
): () => string {
  const file = variableNames(name)
    .filter((way) => isFileWay(name, way))
    .map((way) => environment[way])
    .find(Boolean)
  if (file === undefined) return () => atStart
  let current = atStart
  let seen = ''
  const take = (text: string) => {
    if (text.trim() !== '') current = text
    else if (whenBlank === 'drop') current = ''
  }
  return () => {
    try {
      const { mtimeMs, ino, size } = statSync(file)
      const version = `${mtimeMs} ${ino} ${size}`
      if (version === seen) return current
      const text = readSecretFile(name, file)
      take(text)
      seen = version
    } catch {
      seen = '' // an unreadable file is looked at again at the next use
      take('')
    }
    return current
  }
}

/** Every variable that may give a setting. */
export function variableNames(name: string): string[] {
  const names = [name, aliases.get(name), ...(name.startsWith('IDP_') ? [name.replace('IDP_', 'OIDC_')] : [])]
  return names.filter((one) => one !== undefined).flatMap((variant) => [variant, `${variant}_FILE`])
}

const isFileWay = (name: string, way: string) => way.endsWith('_FILE') && way !== name

const withoutEnds = (name: string, text: string) => (trimmedNames.has(name) ? text.trim() : text)

/** Editors and `kubectl create secret --from-file` leave one newline at the end. */
const readSecretFile = (name: string, file: string) =>
  withoutEnds(name, readFileSync(file, 'utf8').replace(/\r?\n$/, ''))

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : 'unknown reason')
