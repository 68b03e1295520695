import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { failureWords } from '../../web/src/ui/failure-words.ts'
import { AnswerError } from '../../web/src/ui/read-json.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({
    parts: ['argo cd', 'lines', 'provider', 'browser'],
    applications: ['held', 'shop', 'crowded'],
    settings: { MAX_UNFINISHED_PER_APP: '2' },
  })
  for (const app of ['held', 'shop', 'crowded']) world.hold(app, 'never-ready', 'v0')
})
afterAll(() => world?.[Symbol.asyncDispose]())

const lockPath = '/api/v1/deploy-lock'
/** Sooner than the page asks by itself who is signed in. */
const soonMs = 10_000
const nextHour = Math.floor(Date.now() / 1000) + 3_600
const cancelling = { label: 'Cancel deployment', task: async () => world.deploy('held', 'v1') }
const deployingAgain = (app: string) => ({
  label: 'Deploy again',
  async task() {
    const id = await world.deploy(app, 'v1')
    await world.ada?.change(world.service.url, `/api/v1/tasks/${id}`, 'DELETE')
    return (await world.service.waitForEnd(id)).id
  },
})
const database = () => world.service.lines.database

/** What happens between the look at the page and the press, and is over when disposed of. */
type Row = {
  readonly status: number
  readonly why: string
  readonly action: { readonly label: string; readonly task: () => Promise<string> }
  readonly arrange: (id: string, user: string) => Promise<unknown>
  readonly restore?: () => unknown
  /** Beside the words of the page. */
  readonly shows?: string | RegExp
  /** The refusal leaves the page once what happened is over. */
  readonly leaves?: true
}

const rows: readonly Row[] = [
  {
    status: 401,
    why: 'the session has ended',
    action: cancelling,
    arrange: (_id, user) => world.rows('DELETE FROM watcher.sessions WHERE name = $1', [user]),
    shows: 'Sign in to change deployments.',
  },
  {
    status: 403,
    why: 'the user has left the group',
    action: cancelling,
    arrange: (_id, user) => world.rows("UPDATE watcher.sessions SET groups = '{}' WHERE name = $1", [user]),
    shows: /^Only members of platform may change deployments/,
  },
  {
    status: 404,
    why: 'the task was deleted',
    action: cancelling,
    // Its owner may be writing it or an event of it just now.
    arrange: (id) =>
      world.rows(`DO $$ BEGIN
        LOCK TABLE watcher.tasks, watcher.task_events IN SHARE ROW EXCLUSIVE MODE;
        DELETE FROM watcher.tasks WHERE id = '${id}';
      END $$`),
    shows: 'This deployment was deleted while the page was open.',
  },
  {
    status: 406,
    why: 'deployments are locked',
    action: deployingAgain('shop'),
    arrange: () => changeLock('POST', { reason: 'failover', until: nextHour }),
    restore: () => changeLock('DELETE'),
    shows: /The lock ends \d/,
    leaves: true,
  },
  {
    status: 429,
    why: 'the application has too many unfinished tasks',
    action: deployingAgain('crowded'),
    arrange: () =>
      world.rows(
        `INSERT INTO watcher.tasks
           (id, created, deadline, app, author, project, images, timeout_seconds, refresh, may_write)
         SELECT gen_random_uuid(), now(), now() + interval '1 hour', 'crowded', 'ada', 'shop',
           jsonb_build_array(jsonb_build_object('image', image, 'tag', 'v1')), 3600, true, true
         FROM unnest(ARRAY['one', 'other']) AS image`,
      ),
    shows: /Try again from \d/,
  },
  {
    status: 503,
    why: 'the database is unavailable',
    action: cancelling,
    async arrange() {
      database().mood = 'refuse'
      database().cut()
    },
    restore() {
      database().mood = 'well'
    },
  },
]

const changeLock = async (method: 'POST' | 'DELETE', body?: object) =>
  world.ada?.change(world.service.url, lockPath, method, body)
const ErrorBody = z.object({ error: z.string(), code: z.string().optional() })

/** What the page says of the refusal of what `press` asks for. */
async function refusalOf(page: Page, status: number, press: () => Promise<void>): Promise<string> {
  const isChange = (method: string) => method === 'POST' || method === 'DELETE'
  const refused = page.waitForResponse((answer) => isChange(answer.request().method()))
  await press()
  const answer = await refused
  expect(answer.status()).toBe(status)
  const { error, code } = ErrorBody.parse(await answer.json())
  return failureWords(new AnswerError(status, error, undefined, code))
}

describe('a refusal stands beside the button in the words of the page', () => {
  test.for(rows)('$status: $why', async ({ status, action: { label, task }, arrange, restore, shows, leaves }) => {
    const user = `user-${status}`
    const as = await world.signedIn(user)
    const id = await task()
    await using opened = await world.open(`/task/${id}`, { as })
    const { page } = opened
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: label, exact: true }).click()
    await using stack = new AsyncDisposableStack()
    stack.defer(async () => void (await restore?.()))
    await arrange(id, user)
    const press = () => page.getByRole('dialog').getByRole('button', { name: label }).click()
    const words = await refusalOf(page, status, press)
    const refusal = page.getByRole('alert').getByText(`${label}: ${words}.`)
    await refusal.waitFor()
    if (shows !== undefined) await page.getByText(shows).first().waitFor({ timeout: soonMs })
    if (leaves === undefined) return
    await restore?.()
    await refusal.waitFor({ state: 'detached', timeout: soonMs })
  })

  test('503 to the lock: the reason stays where it was typed, and the next press locks', async () => {
    await using opened = await world.open('/lock', { as: world.ada })
    const { page } = opened
    const reason = page.getByLabel('Reason')
    await reason.fill('OPS-4')
    database().mood = 'refuse'
    database().cut()
    const words = await refusalOf(page, 503, () => page.getByRole('button', { name: 'Lock deployments' }).click())
    await page.getByRole('alert').getByText(`Not changed: ${words}`).waitFor()
    expect(await reason.inputValue()).toBe('OPS-4')
    database().mood = 'well'
    await expect.poll(async () => (await world.service.request('/readyz')).status).toBe(200)
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Lock deployments' }).click()
    await page.getByText('OPS-4', { exact: true }).waitFor()
    await changeLock('DELETE')
  })
})
