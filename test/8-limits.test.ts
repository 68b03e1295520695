import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TaskList } from '../contract/task.ts'
import { TaskEvents } from '../contract/task-event.ts'
import { type Service, startService } from './support/service.ts'

const answerBytes = 2 * 1024 * 1024

let service: Service
let rows: Client
beforeAll(async () => {
  service = await startService()
  rows = new Client({ connectionString: service.databaseUrl })
  await rows.connect()
})
afterAll(async () => {
  await rows.end()
  await service[Symbol.asyncDispose]()
})

describe('an answer ends at 2 MiB (spec 8)', () => {
  const count = 300
  beforeAll(async () => {
    await rows.query(
      `INSERT INTO watcher.tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh,
         may_write, status)
       SELECT gen_random_uuid(), now(), now(), now(), 'large', 'ada', 'large',
         (SELECT jsonb_agg(jsonb_build_object('image', repeat('a', 250) || n, 'tag', repeat('b', 250))) FROM generate_series(1, 30) AS n),
         60, true, true, 'deployed'
       FROM generate_series(1, $1)`,
      [count],
    )
    await rows.query(
      `INSERT INTO watcher.task_events (task_id, kind, detail, position)
       SELECT id, 'note', repeat('c', 10000), 1000000 + n
       FROM (SELECT id FROM watcher.tasks LIMIT 1) AS task, generate_series(1, 1000) AS n`,
    )
  })

  const listPage = async (query: string) => {
    const answer = await fetch(`${service.url}/api/v1/tasks?project=large&${query}`)
    const text = await answer.text()
    expect(text.length).toBeLessThan(answerBytes + 1_000)
    return TaskList.parse(JSON.parse(text))
  }

  test('a page of tasks says where the next one begins, by cursor and by offset', async () => {
    const byCursor: string[] = []
    for (let page = await listPage(''); ; page = await listPage(`cursor=${page.next_cursor}`)) {
      byCursor.push(...page.tasks.map(({ id }) => id))
      if (page.next_cursor === undefined) break
    }
    const byOffset: string[] = []
    for (let page = await listPage('limit=250'); ; page = await listPage(`limit=250&offset=${page.next_offset}`)) {
      expect(page.total).toBe(count)
      byOffset.push(...page.tasks.map(({ id }) => id))
      if (page.next_offset === undefined) break
    }
    expect(new Set(byCursor).size).toBe(count)
    expect(byOffset).toEqual(byCursor)
  })

  test('a page that holds all that were asked for names no offset', async () => {
    const page = await listPage('limit=2')
    expect(page).toMatchObject({ tasks: [{ app: 'large' }, { app: 'large' }], next_cursor: expect.any(String) })
    expect(page.next_offset).toBeUndefined()
  })

  test.for(['all tasks', 'one task'])('a page of the events of %s says where the next one begins', async (of) => {
    const { rows: found } = await rows.query('SELECT task_id FROM watcher.task_events WHERE position = 1000001')
    const path = of === 'all tasks' ? '/events' : `/tasks/${found[0]?.task_id}/events`
    const ids: number[] = []
    for (let next: number | undefined = 1_000_000; next !== undefined; ) {
      const answer: Response = await fetch(`${service.url}/api/v1${path}?after=${next}`)
      const text = await answer.text()
      expect(text.length).toBeLessThan(answerBytes + 1_000)
      const page: TaskEvents = TaskEvents.parse(JSON.parse(text))
      ids.push(...page.events.map(({ id }) => id))
      next = page.next_after
    }
    expect(ids).toEqual(Array.from({ length: 1_000 }, (_, at) => 1_000_001 + at))
  })
})
