import { defineConfig } from 'vitest/config'
import { LongFilesFirst } from './test/support/long-files-first.ts'

/** These only end what hangs. What takes longer says its own limit or is a part of proof/. */
const limits = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: { timeout: 30_000 } } }
const slowLimits = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 120_000 } } }

/** Node's flags that save memory cost a service that lives for a minute a fifth of its processor time. */
const shortLived = { env: { SERVICE_MAY_USE_MEMORY: 'true' } }

/** As each file starts processes of its own, a worker may run many. */
const services = {
  globalSetup: ['test/support/global-setup.ts'],
  pool: 'forks' as const,
  ...limits,
  isolate: false,
}

/**
 * `unit`: beside the code, no process. `service`: what starts PostgreSQL, Git, the simulator or the service, with each
 * flow in a browser. `browser`: every page once, and the pages in detail. `chart`: what needs Helm. `docs`: what the
 * documents tell readers to do, with bash, curl and jq. Parts of proof/: `scenarios`, `matrix` and `image`.
 */
export default defineConfig({
  test: {
    // Most of the time of a service test is waiting, so more of them run at once than there are processors. Fewer of those
    // of `browser` and the parts of proof/, which wait less.
    maxWorkers: 6,
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{.ci,action,chart,cli,contract,gotemplate,launcher,server,simulator,web}/**/*.test.{ts,tsx}'],
          exclude: ['**/*.{db,git,helm}.test.ts', '**/node_modules/**'],
          pool: 'forks',
          ...limits,
          isolate: false, // a process for each file would take more time than its tests
        },
      },
      {
        test: {
          name: 'service',
          include: [
            'proof/{histories,mutants,system-histories,values}/*.test.ts',
            'test/**/*.test.ts',
            '{launcher,server,simulator}/**/*.{db,git}.test.ts',
          ],
          exclude: ['test/docs/**', '**/*.{browser,image}.test.ts'],
          ...services,
          ...shortLived,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/**/*.browser.test.ts'],
          ...services,
          ...shortLived,
        },
      },
      {
        test: {
          name: 'scenarios',
          include: ['proof/scenarios/*.test.ts'],
          ...services,
          ...slowLimits,
        },
      },
      {
        test: {
          name: 'matrix',
          include: ['proof/browser/*.test.ts'],
          ...services,
          ...slowLimits,
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
          globalSetup: ['test/support/global-setup.ts'],
          ...slowLimits,
        },
      },
    ],
  },
})
