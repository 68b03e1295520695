import type { World } from './world.ts'

/** Of the tasks below; `preferences` is the name that one of them misses. */
export const exampleApplications = ['payments-worker', 'checkout-api', 'preferences', 'search', 'ledger', 'inventory']

export type ExampleTasks = Awaited<ReturnType<typeof deployExamples>>

/** One task of each status, by rollouts of the simulator: the ids, newest first. */
export async function deployExamples(world: World) {
  const { deploy, hold, service } = world
  const { waitForTask, waitForEnd } = service
  const { controller } = service.lines
  await Promise.all(
    ['payments-worker', 'checkout-api', 'preferences', 'search'].map(async (app) =>
      waitForEnd(await deploy(app, 'v1')),
    ),
  )
  const ledger = await deploy('ledger', 'v1', { timeout: 2 })
  controller.mood = 'refuse'
  controller.cut()
  await waitForEnd(ledger)
  controller.mood = 'well'

  hold('search', 'never-ready', 'v0', 'v1', 'v3')
  hold('checkout-api', 'never-ready', 'v0', 'v1')
  hold('preferences', 'crashes', 'v0', 'v1')
  const missing = await deploy('preferencse', 'v1')
  const cancelled = await deploy('search', 'v2')
  const deployed = await deploy('payments-worker', 'v2')
  const failed = await deploy('preferences', 'v2')
  const waiting = await deploy('checkout-api', 'v2', { timeout: 7_200 })
  await waitForTask(waiting, (task) => task.unmet_condition === 'healthy')
  await deploy('search', 'v3')
  await Promise.all([missing, cancelled, deployed, failed].map((id) => waitForEnd(id)))
  return { waiting, failed, deployed, cancelled, missing, aborted: ledger }
}

/** A task whose names are as long as they may be and have no break. @returns its id */
export function submitLongNames({ deploy }: World): Promise<string> {
  const name = 'x'.repeat(255)
  return deploy(name, name, { author: name, project: name, images: [{ image: name, tag: name }] })
}

/** Ended tasks of one project, a minute apart, the last of them newest. */
export const insertHistory = (world: World, project: string, count: number) =>
  world.rows(
    `INSERT INTO watcher.tasks
       (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
     SELECT gen_random_uuid(), ended - interval '1 minute', ended, ended, 'app-' || at, 'ada', $1,
       '[{"image": "registry.example/shop", "tag": "v1"}]', 900, true, true, 'deployed'
     FROM (SELECT at, now() - make_interval(mins => $2 - at) AS ended FROM generate_series(1, $2) AS at) AS moments`,
    [project, count],
  )
