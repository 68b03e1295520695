import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { startBenchPostgres } from '../../bench/support/start-bench-postgres.ts'
import { buildPart, ui } from '../../launcher/build-part.mjs'
import { demoTimes } from '../../simulator/model/simulator-times.ts'
import { deployExamples, exampleApplications } from '../support/example-tasks.ts'
import { startWorld } from '../support/world.ts'
import { pageStates } from './pages.ts'

/**
 * `npm run screenshots [folder]`: pages of the real service, down to `maxHeight`, once nothing on them is loading any more, as
 * docs/images/<name>-<scheme>-<width>.png.
 */

const maxHeight = 1_300
const root = path.join(import.meta.dirname, '../..')
const images = path.resolve(process.argv[2] ?? path.join(root, 'docs/images'))
const views = [
  { scheme: 'light', width: 1440 },
  { scheme: 'dark', width: 1440 },
  { scheme: 'light', width: 390 },
] as const

/** What a list shows of the hours before: author, project, application, tag, seconds it took. */
const morning = [
  ['orders-ci', 'orders', 'order-history', '3.41.2', 71],
  ['linus', 'platform', 'edge-gateway', '1.190.0', 44],
  ['search-ci', 'discovery', 'search-indexer', '2026.11.3', 161],
  ['grace', 'payments', 'invoice-mailer', '0.18.4', 38],
  ['comms-ci', 'comms', 'notification-fanout', '5.7.1', 95],
  ['orders-ci', 'orders', 'checkout-web', '8.112.0', 67],
] as const

buildPart(ui, root, process.execPath)
await mkdir(images, { recursive: true })
await using started = new AsyncDisposableStack()
started.defer(() => void setTimeout(() => process.exit())) // a rollout that waits has timers of ten minutes
const { url: databaseUrl } = started.use(await startBenchPostgres())
const { refresh, sync } = demoTimes
const world = started.use(
  await startWorld({
    databaseUrl,
    parts: ['argo cd', 'lines', 'provider', 'browser'],
    applications: [...exampleApplications, 'edge-gateway'],
    times: { refresh, sync, podReady: [1_500, 2_500] },
    settings: {
      LOCKDOWN_SCHEDULE: `${dayAhead(2)} 20:00 - ${dayAhead(3)} 08:00, ${dayAhead(4)} 17:00 - ${dayAhead(5)} 08:00`,
      LOCKDOWN_TIMEZONE: 'Europe/Stockholm',
    },
  }),
)
await insertMorning()
const tasks = { ...(await deployExamples(world)), long: '', waiting: await startRollout() }

for (const { picture, path: where, isSignedOut, arrange, shows } of pageStates) {
  if (picture === undefined) continue
  await using stack = new AsyncDisposableStack()
  if (arrange) stack.use(await arrange(world))
  const as = isSignedOut ? undefined : world.ada
  for (const { scheme, width } of views) {
    await using opened = await world.open(typeof where === 'string' ? where : where(tasks), { as, scheme, width })
    await shows(opened.page).waitFor()
    await opened.page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    const file = path.join(images, `${picture.name}-${scheme}-${width}.png`)
    // A phone's bar stands at the end of the window.
    const height = await opened.page.evaluate<number>('document.documentElement.scrollHeight')
    await opened.page.setViewportSize({ width, height: Math.min(height, maxHeight) })
    await opened.page.screenshot({ path: file, animations: 'disabled' })
    console.log(path.relative(root, file))
  }
}

/** A day of the week on which nothing is deployed for the pictures. */
function dayAhead(days: number): string {
  return new Intl.DateTimeFormat('en', { weekday: 'short', timeZone: 'UTC' }).format(Date.now() + days * 86_400_000)
}

async function insertMorning(): Promise<void> {
  const hours = morning.map(([author, project, app, tag, seconds], index) => {
    return {
      author,
      project,
      app,
      images: [{ image: `registry.example/${app}`, tag }],
      seconds,
      minutes: 23 * (index + 1),
    }
  })
  await world.rows(
    `INSERT INTO watcher.tasks
       (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status)
     SELECT gen_random_uuid(), began, began + make_interval(secs => seconds), now(), app, author, project, images, 900, true,
       true, 'deployed'
     FROM jsonb_to_recordset($1) AS row (author text, project text, app text, images jsonb, seconds int, minutes int),
       LATERAL (SELECT now() - make_interval(mins => minutes) AS began) AS moment`,
    [JSON.stringify(hours)],
  )
}

/** A rollout whose new Pods take their time. */
async function startRollout(): Promise<string> {
  world.simulator.controller.setTimes({ podReady: [600_000, 600_000] })
  const id = await world.deploy('edge-gateway', '1.191.0', { author: 'linus', project: 'platform' })
  await world.service.waitForTask(id, (task) => task.unmet_condition === 'healthy')
  return id
}
