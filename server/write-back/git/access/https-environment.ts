import path from 'node:path'
import { credentialHost, credentialsFor } from '../../plan/choose-transport.ts'
import type { RepositoryAddress } from '../../plan/repository-address.ts'
import type { WriteBackSettings } from '../../plan/write-back-settings.ts'
import { configEnvironment, originUrl } from './config-environment.ts'
import { GitError } from './git-error.ts'
import type { GitEnvironment } from './run-git.ts'

const credentialHelper =
  '!f() { test "$1" = get && printf \'username=%s\\npassword=%s\\n\' "$WATCHER_GIT_USER" "$WATCHER_GIT_PASSWORD"; }; f'

/**
 * What git needs to reach an https address. The secret stands in the environment alone; the helper that git runs is a constant.
 * @throws {GitError} `access_denied`: GIT_CREDENTIALS does not name the host
 */
export function httpsEnvironment(address: RepositoryAddress, settings: WriteBackSettings): GitEnvironment {
  const login = credentialsFor(address, settings)
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
