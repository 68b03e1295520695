import { Client } from 'pg'

const days = 365
const applications = 500

/**
 * Fills the tasks with a year of history, evenly over time: 500 applications, of which the n-th has about 1/n as many tasks
 * as the first, one task in ten that did not end deployed, and a commit for seven in ten. The last one ended `daysAgo`.
 * Indexes are made at the end, as a restored backup has them.
 */
export async function loadHistory(url: string, count: number, daysAgo = 0): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query("SET search_path TO watcher; SET maintenance_work_mem = '256MB'; SET synchronous_commit = off")
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
       WHERE schemaname = 'watcher' AND tablename = 'tasks' AND indexname NOT LIKE '%_pkey'`,
    )
    for (const { name } of indexes) await client.query(`DROP INDEX ${name}`)
    await client.query(insertTasks, [count, days, applications, daysAgo])
    await client.query('INSERT INTO confirmed_applications SELECT DISTINCT app FROM tasks')
    for (const { definition } of indexes) await client.query(definition)
    await client.query('VACUUM ANALYZE tasks, confirmed_applications')
    await client.query('CHECKPOINT')
  } finally {
    await client.end()
  }
}

/** Writes events of tasks that ended long ago, as many as one task has to each. */
export async function loadEvents(url: string, count: number): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('SET search_path TO watcher')
    await client.query(
      `INSERT INTO task_events (task_id, at, kind, detail)
       SELECT md5((n / 10)::text)::uuid, now() - interval '1 day', 'note', 'event ' || n FROM generate_series(1, $1::integer) AS n`,
      [count],
    )
    for (let left = count; left > 0; left -= 5_000) await client.query('SELECT number_events(5000)')
    await client.query('VACUUM ANALYZE task_events')
  } finally {
    await client.end()
  }
}

/** What the n-th application is called, and its image. */
export const appName = (rank: number) => `app-${rank}`
export const imageName = (rank: number) => `registry.example/team-${rank % 20}/app-${rank}`

const insertTasks = `
  INSERT INTO tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write,
    status, status_reason, cause, app_url, commit, repository, branch, source)
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(noise, 1, 3) || '8' ||
      substr(noise, 4, 15))::uuid,
    at, at + make_interval(secs => 20 + 100 * luck), at + interval '15 minutes',
    'app-' || rank, 'author-' || (n::bigint * 7919 % 60), 'project-' || (rank % 40),
    jsonb_build_array(jsonb_build_object('image', 'registry.example/team-' || (rank % 20) || '/app-' || rank, 'tag', 'v1.' || n)),
    900, true, true, status, CASE WHEN status <> 'deployed' THEN status || ': no image' END,
    CASE WHEN status <> 'deployed' THEN 'timeout' END, 'https://argocd.example/applications/app-' || rank,
    CASE WHEN status = 'deployed' THEN noise || substr(noise, 1, 8) END, 'ssh://git@git.example/gitops.git', 'main',
    CASE WHEN luck > 0.3 THEN jsonb_build_object('repository', 'https://git.example/app-' || rank, 'sha', md5((n / 2)::text),
      'committed_at', extract(epoch FROM at)::bigint - 60 - n % 7200) END
  FROM (
    SELECT n, luck, md5(n::text || luck) AS noise,
      now() - make_interval(days => $2::integer + $4::integer) + n * (make_interval(days => $2) / $1) AS at,
      floor(power($3::double precision, random()))::integer AS rank,
      CASE WHEN luck < 0.9 THEN 'deployed' ELSE (ARRAY['failed', 'failed', 'aborted', 'cancelled', 'app not found'])[1 + n % 5] END
        AS status
    FROM (SELECT n, random() AS luck FROM generate_series(1, $1::integer) AS n) AS numbers
  ) AS history`
