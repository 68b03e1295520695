import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../support/world.ts'

// During an upgrade a replica of this version serves what a newer one has stored, and its pages may ask a newer one.

let world: World
let id: string
beforeAll(async () => {
  world = await startWorld({ parts: ['argo cd', 'lines', 'provider', 'browser'], applications: ['shop'] })
  id = await world.deploy('shop', 'v2')
  await world.service.waitForEnd(id)
  await world.rows(
    `UPDATE watcher.tasks SET status = 'failed', cause = 'canary_rejected', diagnosis = $2, status_reason = 'rejected'
     WHERE id = $1`,
    [id, JSON.stringify(diagnosis)],
  )
  await world.rows(
    `WITH event AS (INSERT INTO watcher.task_events (task_id, kind, detail, data)
       VALUES ($1, 'canary_weighed', 'canary at 20 %', '{"canary": {"share": 20}}'))
     INSERT INTO watcher.audit (action, actor_kind) VALUES ('canary_approved', 'robot')`,
    [id],
  )
})
afterAll(() => world?.[Symbol.asyncDispose]())

const diagnosis = {
  conditions: [{ name: 'canary', state: 'not_met', since: 1 }],
  evidence: [
    { kind: 'canary', share: 20 },
    { kind: 'note', text: 'the canary was rejected' },
  ],
  cancelled_by: { kind: 'robot' },
  next_steps: [{ actor: 'robot', text: 'Wait.' }],
  links: [{ kind: 'canary', url: 'https://canary.example/' }],
}

test.for(['/tasks', '/apps/summary', '/history?days=1', '/events', '/audit'])(
  'GET %s answers 200 with words that only a newer version knows',
  async (path) => {
    const read = async () => {
      const answer = await world.ada?.request(`${world.service.url}/api/v1${path}`)
      return [answer?.status, await answer?.text()]
    }
    await expect.poll(read).toEqual([200, expect.stringContaining('canary_')])
  },
)

test('GET of one task passes them on, of a piece of evidence its kind', async () => {
  const { body } = await world.service.request(`/api/v1/tasks/${id}`)
  const evidence = [{ kind: 'canary' }, { kind: 'note', text: 'the canary was rejected' }]
  expect(body).toMatchObject({ cause: 'canary_rejected', diagnosis: { ...diagnosis, evidence } })
})

test('pages show such words as they are', async () => {
  for (const [path, shown] of [
    ['/', 'The deployment failed.'],
    ['/tasks', 'The deployment failed'],
    ['/history', 'canary_rejected'],
    [`/task/${id}`, 'canary_rejected'],
    [`/task/${id}`, '(robot)'],
    [`/task/${id}`, 'Canary at 20 %'],
  ] as const) {
    await using opened = await world.open(path)
    await opened.page.getByText(shown).first().waitFor({ state: 'attached' }) // a step may be folded away
    expect(opened.complaints, path).toEqual([])
  }
})

test('a page shows a status that only a newer service answers', async () => {
  await using opened = await world.open('/tasks')
  const { page, complaints } = opened
  await page.route(`**/api/v1/tasks/${id}`, async (route) => {
    const response = await route.fetch()
    return route.fulfill({ response, json: { ...(await response.json()), status: 'paused' } })
  })
  await page.goto(`${world.service.url}/task/${id}`)
  await page.getByRole('heading', { level: 2, name: 'Ended as “paused”' }).waitFor()
  expect(complaints).toEqual([])
})
