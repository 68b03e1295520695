import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'

/**
 * Changes the gate of every unfinished task, again and again, with an event for each, as replicas do that watch them.
 * @returns how many rounds there were
 */
export async function changeRows(databaseUrl: string, everyMs: number, durationMs: number): Promise<number> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('SET search_path TO watcher')
    const beganMs = performance.now()
    let rounds = 0
    for (; performance.now() - beganMs < durationMs; rounds += 1) {
      await delay(Math.max(0, beganMs + rounds * everyMs - performance.now()))
      const name = ['revision', 'synced', 'healthy'][rounds % 3]
      const diagnosis = { conditions: [{ name, state: 'not_met', since: 0 }], evidence: [], next_steps: [], links: [] }
      await client.query(
        `WITH changed AS (UPDATE tasks SET diagnosis = $1 WHERE status = 'in progress' RETURNING id)
         INSERT INTO task_events (task_id, kind, detail) SELECT id, 'waiting_for', $2 FROM changed`,
        [JSON.stringify(diagnosis), `waiting for ${name}`],
      )
      await client.query('SELECT number_events(5000)')
      await client.query("SELECT pg_notify('watcher_wake_up', 'bench event *')")
    }
    return rounds
  } finally {
    await client.end()
  }
}
