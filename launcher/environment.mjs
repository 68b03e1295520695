import { readFileSync } from 'node:fs'
import path from 'node:path'

/** @typedef {Readonly<Record<string, string | undefined>>} Environment */

/** @param {Environment} environment @param {string[]} names */
const isAnySet = (environment, names) =>
  names.some((name) => environment[name] !== undefined || environment[`${name}_FILE`] !== undefined)

/** @param {Environment} environment @param {string} name */
const isGiven = (environment, name) => Boolean(environment[name] || environment[`${name}_FILE`])

/** The setting itself, or what its file holds. What is wrong with it is left to the service to report.
 * @param {Environment} environment @param {string} name */
function read(environment, name) {
  const file = environment[`${name}_FILE`]
  if (environment[name] || !file) return environment[name]
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch {
    return undefined
  }
}

/** Even a blank one counts: a production start whose variables came out empty must not turn into a demo.
 * @param {Environment} environment */
export const isDemo = (environment) => !isAnySet(environment, ['ARGO_URL', 'ARGO_TOKEN'])

const databaseNames = ['DATABASE_URL', 'DB_DSN', 'DB_HOST', 'DB_PORT', 'DB_USER', 'DB_PASSWORD', 'DB_NAME']

/** Kubernetes sets DB_PORT for a Service named `db`; the service does not count that one either.
 * @param {Environment} environment */
const databaseNamesIn = (environment) =>
  databaseNames.filter(
    (name) => isAnySet(environment, [name]) && !(name === 'DB_PORT' && /^\w+:\/\//.test(environment.DB_PORT ?? '')),
  )

/** @param {Environment} environment */
export const isDatabaseSet = (environment) => databaseNamesIn(environment).length > 0

/** What only a real installation has: a demo beside it would judge its tasks by the simulator.
 * @param {Environment} environment @returns {string[]} the names that are set */
export function settingsAgainstDemo(environment) {
  const names = ['SSH_KEY_PATH', 'GIT_CREDENTIALS', 'IDP_ISSUER_URL', 'OIDC_ISSUER_URL']
  const enabled = ['IDP_ENABLED', 'OIDC_ENABLED'].filter((name) =>
    /^(true|t|1)$/i.test(read(environment, name)?.trim() ?? ''),
  )
  return [...databaseNamesIn(environment), ...names.filter((name) => isAnySet(environment, [name])), ...enabled]
}

/** @param {Environment} environment */
const isCredentialSet = (environment) =>
  isAnySet(environment, ['WATCHER_DEPLOY_TOKEN', 'ARGO_WATCHER_DEPLOY_TOKEN', 'JWT_SECRET'])

/** @param {Environment} environment */
export const dataDirectoryOf = (environment) => path.resolve(read(environment, 'DATA_DIR') || './data')

/** Where the service will listen, and where this machine reaches it. A wrong PORT is left to the service to report.
 * @param {Environment} environment */
export function addressOf(environment) {
  const host = read(environment, 'HOST') || (isDemo(environment) ? demoDefaults.HOST : '0.0.0.0')
  const port = Number(read(environment, 'PORT') || 8080)
  const everywhere = host === '0.0.0.0' || host === '::'
  const name = everywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const isKnown = Number.isInteger(port) && port > 0 && port < 65_536
  return {
    host,
    port,
    isKnown,
    probe: `http://${everywhere ? '127.0.0.1' : name}:${port}`,
    shown: `http://${name}:${port}`,
  }
}

/** Where nothing else was wished: failures show within seconds, and the log leaves room for the hints. */
const demoDefaults = {
  HOST: '127.0.0.1', // its token is known to everybody
  DRAIN_DELAY: '0', // the demo has no load balancer
  LOG_LEVEL: 'warn',
  BAD_POD_GRACE: '5s',
  DEGRADED_GRACE: '5s',
  COMPARISON_ERROR_GRACE: '5s',
  SYNC_FAILED_GRACE: '5s',
  APP_GONE_GRACE: '5s',
}

/** How the demo is set. What its parts need is so whatever was wished.
 * @param {Environment} environment
 * @param {{ argoUrl: string, argoToken: string, sshKeyPath: string, knownHostsPath: string }} simulator
 * @returns {Environment} */
export const demoSettings = (environment, simulator) => ({
  ARGO_URL: simulator.argoUrl,
  ARGO_TOKEN: simulator.argoToken,
  SSH_KEY_PATH: simulator.sshKeyPath,
  SSH_KNOWN_HOSTS: simulator.knownHostsPath,
  OVERRIDE_FILE_PREFIX: 'argocd',
  ...Object.fromEntries(
    ['SSH_KEY_PATH', 'SSH_KNOWN_HOSTS', 'OVERRIDE_FILE_PREFIX'].map((name) => [`${name}_FILE`, undefined]),
  ),
  ...(isCredentialSet(environment) ? {} : { WATCHER_DEPLOY_TOKEN: 'demo' }),
  ...Object.fromEntries(Object.entries(demoDefaults).filter(([name]) => !isGiven(environment, name))),
})
