import { test as base } from 'vitest'
import { withoutLimits } from './service.ts'
import { startWorld } from './world.ts'

export const jwtSecret = 'a secret of these tests, longer than 32 bytes'

/**
 * Tests in the one world that the files of a worker share, started by the first of them and closed when the worker ends.
 * Each file has applications of its own, whose names begin with the file's, and leaves the lock open.
 */
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern what a fixture depends on
export const test = base.extend('world', { scope: 'worker' }, async ({}, { onCleanup }) => {
  const world = await startWorld({
    parts: ['argo cd', 'provider'],
    applications: [],
    mayReadLogs: true,
    times: { customResourceLag: 1_500 },
    settings: {
      ...withoutLimits,
      JWT_SECRET: jwtSecret,
      IDP_PRIVILEGED_GROUPS: 'platform',
      APPS_IN_ANY_NAMESPACE: 'true',
      BAD_POD_GRACE: '4s',
      DEGRADED_GRACE: '3s',
      COMPARISON_ERROR_GRACE: '1s',
      SYNC_FAILED_GRACE: '1s',
      APP_GONE_GRACE: '2s',
      POD_LOG_LINES: '2',
      GIT_WEB_URLS: '127.0.0.1=https://code.example/{path}/commit/{sha}',
    },
  })
  onCleanup(() => world[Symbol.asyncDispose]())
  return world
})
