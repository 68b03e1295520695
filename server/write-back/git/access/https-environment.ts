import path from 'node:path'
import type { Fault } from '../../../git-hosts/api-fault.ts'
import type { GitHubApp } from '../../../git-hosts/github-app.ts'
import { credentialHost, credentialsFor, isOfApp } from '../../plan/choose-transport.ts'
import type { RepositoryAddress } from '../../plan/repository-address.ts'
import type { WriteBackSettings } from '../../plan/write-back-settings.ts'
import { configEnvironment, originUrl } from './config-environment.ts'
import { GitError } from './git-error.ts'
import type { GitEnvironment } from './run-git.ts'

const credentialHelper =
  '!f() { test "$1" = get && printf \'username=%s\\npassword=%s\\n\' "$WATCHER_GIT_USER" "$WATCHER_GIT_PASSWORD"; }; f'

/** Tokens of the GitHub App, each for one repository. */
export type AppTokens = {
  /** @param repository its path on the host, without `.git`. @throws {GitError} where there is none */
  tokenFor(repository: string): Promise<string>
  /** The next use gets another one. */
  forget(token: string): void
  isKept(token: string): boolean
  secrets(): readonly string[]
}

/**
 * What git needs to reach an https address. The secret stands in the environment alone; the helper that git runs is a constant.
 * @throws {GitError} `access_denied`: GIT_CREDENTIALS does not name the host, or the App may not write to the repository
 */
export async function httpsEnvironment(
  address: RepositoryAddress,
  settings: WriteBackSettings,
  tokens: AppTokens | undefined,
): Promise<GitEnvironment> {
  const login = credentialsFor(address, settings) ?? (await loginOfApp(address, settings, tokens))
  if (login === undefined)
    throw new GitError('access_denied', `GIT_CREDENTIALS has no entry for ${credentialHost(address)}`)
  const config = [
    originUrl(address),
    ['credential.helper', ''],
    [`credential.https://${credentialHost(address)}.helper`, credentialHelper], // for no other host
    ['http.followRedirects', 'false'],
    ...(settings.gitCaFile === undefined ? [] : [['http.sslCAInfo', path.resolve(settings.gitCaFile)] as const]),
    ['http.lowSpeedLimit', '100'],
    ['http.lowSpeedTime', '20'],
  ] as const
  return {
    GIT_ALLOW_PROTOCOL: 'https',
    WATCHER_GIT_USER: login.user,
    WATCHER_GIT_PASSWORD: login.password,
    ...configEnvironment(config),
  }
}

/** https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/authenticating-as-a-github-app-installation */
async function loginOfApp(address: RepositoryAddress, settings: WriteBackSettings, tokens: AppTokens | undefined) {
  if (tokens === undefined || !isOfApp(address, settings)) return undefined
  const repository = address.location.slice(address.host.length + 1)
  return { user: 'x-access-token', password: await tokens.tokenFor(repository) }
}

/** Tokens of a GitHub App that may read and push in one repository. */
export const appTokens = ({ tokenFor, forget, isKept, secrets }: GitHubApp): AppTokens => ({
  async tokenFor(repository) {
    const outcome = await tokenFor(repository, 'contents')
    if ('token' in outcome) return outcome.token
    throw new GitError(codeOf(outcome), outcome.error)
  },
  forget,
  isKept,
  secrets,
})

/** What a person has to change is not tried again for this task. */
const codeOf = ({ kind }: Fault) => (kind === 'passing' ? 'unreachable' : 'access_denied')
