import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { WriteBackSettings } from '../../server/write-back/plan/write-back-settings.ts'
import type { GitHost } from './start-git-host.ts'

/** Settings for what only plans a write-back. */
export const planSettings = (change: Partial<WriteBackSettings> = {}): WriteBackSettings => ({
  sshKeyPath: '/keys/id',
  sshKeyPass: undefined,
  signingKeyPath: undefined,
  signingKeyPass: undefined,
  knownHostsPath: '/keys/known_hosts',
  knownHosts: () => '',
  commitAuthor: { name: 'Watcher', email: 'watcher@example.test' },
  gitOpTimeoutMs: 60_000,
  repoCachePath: '/cache',
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
})

/** Settings for writing to a Git host of the test, with a cache folder of their own. */
export const writeBackSettings = (
  { keyPath, knownHostsPath }: Pick<GitHost, 'keyPath' | 'knownHostsPath'>,
  change: Partial<WriteBackSettings> = {},
): WriteBackSettings =>
  planSettings({
    sshKeyPath: keyPath,
    knownHostsPath,
    repoCachePath: mkdtempSync(path.join(tmpdir(), 'wb-')),
    ...change,
  })
