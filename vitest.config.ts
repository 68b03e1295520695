import { defineConfig } from 'vitest/config'
import { LongFilesFirst } from './test/support/long-files-first.ts'

/** These only end what hangs: a busy machine takes long, and what may not take long a test says itself. */
const limits = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 60_000 } } }

/**
 * `unit`: beside the code, no process. `service`: everything that starts PostgreSQL, Git, the simulator or the service.
 * `chart`: what needs Helm and kubectl. `docs`: what the documents tell readers to do, with bash, curl and jq.
 * `image`: what needs root, and debootstrap and bubblewrap of Debian.
 */
export default defineConfig({
  test: {
    // Most of the time of a service test is waiting, so more of them run at once than there are processors.
    maxWorkers: 4,
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{.ci,chart,contract,gotemplate,launcher,server,simulator,web}/**/*.test.{ts,tsx}'],
          exclude: ['**/*.db.test.ts', '**/*.git.test.ts', '**/*.helm.test.ts', '**/node_modules/**'],
          pool: 'forks',
          ...limits,
          isolate: false, // a process for each file would take more time than its tests
        },
      },
      {
        test: {
          name: 'service',
          include: ['test/**/*.test.ts', '{server,simulator}/**/*.{db,git}.test.ts'],
          exclude: ['test/docs/**', '**/*.image.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          pool: 'forks',
          ...limits,
          isolate: false,
        },
      },
      {
        test: {
          name: 'docs',
          include: ['test/docs/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          ...limits,
        },
      },
      {
        test: {
          name: 'chart',
          include: ['chart/**/*.helm.test.ts'],
          globalSetup: ['chart/tests/find-helm.ts'],
          ...limits,
        },
      },
      {
        test: {
          name: 'image',
          include: ['test/image/*.image.test.ts'],
          globalSetup: ['test/support/global-setup.ts', 'test/image/build-image.ts'],
          ...limits,
        },
      },
    ],
  },
})
