import { readFileSync, statSync } from 'node:fs'
import { type Config, parseConfig } from './parse-config.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What is known of the last time that the file was read. */
type ConfigState = {
  /** When the configuration that counts was read, in Unix milliseconds. */
  readonly loadedMs: number
  /** What is wrong with the file as it is now; empty: it counts. */
  readonly issues: readonly string[]
}

export type ConfigSource = {
  readonly current: () => Config
  /** Undefined without a configuration. */
  readonly state: () => ConfigState | undefined
}

/** Where there is no configuration, or one that cannot change. */
export const fixedConfig = (config: Config, loadedMs?: number): ConfigSource => ({
  current: () => config,
  state: () => (loadedMs === undefined ? undefined : { loadedMs, issues: [] }),
})

/**
 * Reads a configuration file again when it has changed, at the next use. While its content is wrong, the last good one counts.
 * @param publicUrl PUBLIC_URL: the audience of a rule that names none
 * @param environment where secrets of targets are looked for
 */
export function watchedConfig(
  file: string,
  atStart: Config,
  publicUrl: string | undefined,
  environment: Environment,
  wallMs: () => number,
): ConfigSource {
  let config = atStart
  let state: ConfigState = { loadedMs: wallMs(), issues: [] }
  let seen = versionOf(file)

  const refresh = () => {
    const version = versionOf(file)
    if (version === seen) return
    seen = version
    const read = readConfig(file, publicUrl, environment)
    if ('issues' in read) state = { ...state, issues: read.issues }
    else {
      config = read.config
      state = { loadedMs: wallMs(), issues: [] }
    }
  }

  return {
    current() {
      refresh()
      return config
    },
    state() {
      refresh()
      return state
    },
  }
}

/** Says once what is wrong with a changed file, and once that it is read again; to be called now and then. */
export function createConfigReport(
  source: ConfigSource,
  log: { error(facts: object, message: string): void; info(facts: object, message: string): void },
) {
  let said = ''
  let loadedMs = source.state()?.loadedMs
  return async () => {
    const state = source.state()
    if (state === undefined) return
    const issues = state.issues.join('; ')
    if (issues !== said && issues !== '')
      log.error({ issues: state.issues }, 'configuration not read again, the last one counts')
    if (state.loadedMs !== loadedMs) log.info({}, 'configuration read again')
    said = issues
    loadedMs = state.loadedMs
  }
}

function readConfig(
  file: string,
  publicUrl: string | undefined,
  environment: Environment,
): ReturnType<typeof parseConfig> {
  try {
    return parseConfig(readFileSync(file, 'utf8'), publicUrl, environment)
  } catch (error) {
    return { issues: [`the file cannot be read (${codeOf(error)})`] }
  }
}

/** Changes with the content: ConfigMaps are mounted as links, which change their target. */
function versionOf(file: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(file)
    return `${mtimeMs} ${ino} ${size}`
  } catch (error) {
    return String(codeOf(error))
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : 'unknown reason')
