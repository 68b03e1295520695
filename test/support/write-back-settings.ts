import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { WriteBackSettings } from '../../server/write-back/plan/write-back-settings.ts'
import type { GitHost } from './start-git-host.ts'

/** Settings for writing to a Git host of the test, with a cache folder of their own. */
export function writeBackSettings(
  host: Pick<GitHost, 'keyPath' | 'knownHostsPath'>,
  change: Partial<WriteBackSettings> = {},
): WriteBackSettings {
  return {
    sshKeyPath: host.keyPath,
    sshKeyPass: undefined,
    signingKeyPath: undefined,
    signingKeyPass: undefined,
    knownHostsPath: host.knownHostsPath,
    knownHosts: () => '',
    commitAuthor: { name: 'Watcher', email: 'watcher@example.test' },
    gitOpTimeoutMs: 60_000,
    repoCachePath: mkdtempSync(path.join(tmpdir(), 'wb-')),
    repoCacheLimitBytes: 2 * 1024 ** 3,
    gitCredentials: () => new Map(),
    appHost: undefined,
    gitCaFile: undefined,
    allowedRepos: [],
    overrideFilePrefix: 'watcher',
    annotationPrefixes: ['watcher/'],
    controlPlaneNamespace: 'argocd',
    commitMessageFormat: undefined,
    commitTrailer: true,
    ...change,
  }
}
