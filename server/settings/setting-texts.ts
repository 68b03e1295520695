import { readFileSync, statSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

/** The texts of the settings that are given, wherever they are given, and what is wrong with where they are. */
export type SettingTexts = { readonly texts: Readonly<Record<string, string>>; readonly mistakes: readonly string[] }

/** A name that means the same as another. */
const aliases = new Map([
  ['WATCHER_DEPLOY_TOKEN', 'ARGO_WATCHER_DEPLOY_TOKEN'],
  ['IDP_REQUIRE_READ_AUTH', 'OIDC_REQUIRE_TASK_READ_AUTH'],
])

/** Looks up each setting as `NAME`, then as the file that `NAME_FILE` names. Empty means not given, except `mayNotBeEmpty`. */
export function gatherSettingTexts(
  environment: Environment,
  names: readonly string[],
  mayNotBeEmpty: ReadonlySet<string>,
): SettingTexts {
  const texts: Record<string, string> = {}
  const mistakes: string[] = []
  for (const name of names) {
    const given = waysToGive(name).filter((way) => environment[way] !== undefined && environment[way] !== '')
    const [first] = given
    if (given.length > 1) mistakes.push(`${name}: given more than once (${given.join(', ')}): keep one`)
    else if (first !== undefined) gather(name, first)
    else if (mayNotBeEmpty.has(name) && waysToGive(name).some((way) => environment[way] === '')) texts[name] = ''
  }
  return { texts, mistakes }

  function gather(name: string, way: string) {
    const value = environment[way] ?? ''
    try {
      texts[name] = isFileWay(name, way) ? readSecretFile(value) : value
    } catch (error) {
      mistakes.push(`${way}: the file cannot be read (${codeOf(error)})`)
    }
  }
}

/**
 * Reads a credential anew when its mounted file has changed, so that it can be rotated without a restart. While the file
 * is missing or blank, as in the middle of a rotation, the last good text counts (`keep`), or none, `''` (`drop`).
 */
export function credentialReader(
  environment: Environment,
  name: string,
  atStart: string,
  whenBlank: 'keep' | 'drop' = 'keep',
): () => string {
  const file = waysToGive(name)
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
      const text = readSecretFile(file)
      take(text)
      seen = version
    } catch {
      seen = '' // an unreadable file is looked at again at the next use
      take('')
    }
    return current
  }
}

function waysToGive(name: string): string[] {
  const names = [name, aliases.get(name), ...(name.startsWith('IDP_') ? [name.replace('IDP_', 'OIDC_')] : [])]
  return names.filter((one) => one !== undefined).flatMap((variant) => [variant, `${variant}_FILE`])
}

const isFileWay = (name: string, way: string) => way.endsWith('_FILE') && way !== name

/** Editors and `kubectl create secret --from-file` leave one newline at the end. */
const readSecretFile = (file: string) => readFileSync(file, 'utf8').replace(/\r?\n$/, '')

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : 'unknown reason')
