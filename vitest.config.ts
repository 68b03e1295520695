import { defineConfig } from 'vitest/config'
import { LongFilesFirst } from './test/support/long-files-first.ts'

/** These only end what hangs: a busy machine takes long, and what may not take long a test says itself. */
const limits = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 120_000 } } }

/** As each file starts processes of its own, a worker may run many. */
const services = {
  globalSetup: ['test/support/global-setup.ts'],
  pool: 'forks' as const,
  ...limits,
  isolate: false,
}

/**
 * `unit`: beside the code, no process. `service`: what starts PostgreSQL, Git, the simulator or the service, with each
 * flow in a browser. `browser`: every page, and flows in all combinations. `long`: what waits for hosts and machines that
 * fail, starts many replicas or the demo, or does something in number; `npm test` would take more than its five minutes.
 * `chart`: what needs Helm and kubectl. `docs`: what the documents tell readers to do, with bash, curl and jq.
 * `image`: what needs Docker.
 */
export default defineConfig({
  test: {
    // Most of the time of a service test is waiting, so more of them run at once than there are processors. Fewer of those
    // of package.json's test:long and test:browser, which wait less and say how long something may take.
    maxWorkers: 6,
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{.ci,chart,contract,gotemplate,launcher,server,simulator,web}/**/*.test.{ts,tsx}'],
          exclude: ['**/*.{db,git,helm,long}.test.ts', '**/node_modules/**'],
          pool: 'forks',
          ...limits,
          isolate: false, // a process for each file would take more time than its tests
        },
      },
      {
        test: {
          name: 'service',
          include: ['{proof,test}/**/*.test.ts', '{server,simulator}/**/*.{db,git}.test.ts'],
          exclude: ['test/docs/**', '**/*.{browser,image,long}.test.ts'],
          ...services,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/**/*.browser.test.ts'],
          ...services,
        },
      },
      {
        test: {
          name: 'long',
          include: ['{proof,server,test}/**/*.long.test.ts'],
          ...services,
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
          ...limits,
        },
      },
    ],
  },
})
