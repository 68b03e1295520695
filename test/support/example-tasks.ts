import type { BrowserWorld } from './browser-world.ts'

/** Of the tasks below; `preferences` is the name that one of them misses. */
export const exampleApplications = ['payments-worker', 'checkout-api', 'preferences', 'search', 'ledger', 'inventory']

export type ExampleTasks = Awaited<ReturnType<typeof deployExamples>>

/** One task of each status, by rollouts of the simulator: the ids, newest first. */
export async function deployExamples(world: BrowserWorld) {
  const { submit, hold, waitForTask, waitForEnd } = world
  const { controller } = world.service.lines
  await Promise.all(
    ['payments-worker', 'checkout-api', 'preferences', 'search'].map(async (app) =>
      waitForEnd(await submit(app, 'v1')),
    ),
  )
  const ledger = await submit('ledger', 'v1', { timeout: 2 })
  controller.mood = 'refuse'
  controller.cut()
  await waitForEnd(ledger)
  controller.mood = 'well'

  hold('search', 'never-ready', 'v0', 'v1', 'v3')
  hold('checkout-api', 'never-ready', 'v0', 'v1')
  hold('preferences', 'crashes', 'v0', 'v1')
  const missing = await submit('preferencse', 'v1')
  const cancelled = await submit('search', 'v2')
  const deployed = await submit('payments-worker', 'v2')
  const failed = await submit('preferences', 'v2')
  const waiting = await submit('checkout-api', 'v2', { timeout: 7_200 })
  await waitForTask(waiting, (task) => task.unmet_condition === 'healthy')
  await submit('search', 'v3')
  await Promise.all([missing, cancelled, deployed, failed].map(waitForEnd))
  return { waiting, failed, deployed, cancelled, missing, aborted: ledger }
}

/** A task whose names are as long as they may be and have no break. @returns its id */
export function submitLongNames({ submit }: BrowserWorld): Promise<string> {
  const name = 'x'.repeat(255)
  return submit(name, name, { author: name, project: name, images: [{ image: name, tag: name }] })
}

/** Ended tasks of one project, a minute apart, the last of them newest. */
export const insertHistory = (world: BrowserWorld, project: string, count: number) =>
  world.rows(
    `INSERT INTO watcher.tasks
       (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
     SELECT gen_random_uuid(), ended - interval '1 minute', ended, ended, 'app-' || at, 'ada', $1,
       '[{"image": "registry.example/shop", "tag": "v1"}]', 900, true, true, 'deployed'
     FROM (SELECT at, now() - make_interval(mins => $2 - at) AS ended FROM generate_series(1, $2) AS at) AS moments`,
    [project, count],
  )
