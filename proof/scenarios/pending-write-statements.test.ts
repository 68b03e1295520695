import { randomUUID } from 'node:crypto'
import { type KyselyPlugin, PostgresQueryCompiler } from 'kysely'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { createPendingWriteStore, type PendingWriteStore } from '../../server/write-back/queue/pending-write-store.ts'
import { openFileDatabase, queryOnce } from '../../test/support/database.ts'

const ended = 100_000
const address = 'ssh://git@git.example/gitops.git'
const claim = { repository: 'git.example/gitops', branch: 'main', address, owner: randomUUID(), fence: '0' }
const plan = {
  ...claim,
  app: 'app1',
  file: 'a.yaml',
  tool: 'helm' as const,
  entries: [],
  sourceEntries: [],
  message: 'x',
}
const { testDatabase, database } = await openFileDatabase()

type Statement = { readonly sql: string; readonly parameters: readonly unknown[] }
type PlanNode = { readonly 'Node Type': string; readonly 'Relation Name'?: string; readonly Plans?: PlanNode[] }

/** Rows as the service leaves them: many tasks that ended, a third of them of one application, and as many as may be open at once. */
async function fill(): Promise<readonly string[]> {
  await queryOnce(
    testDatabase.url,
    `SET search_path = watcher;
     INSERT INTO replicas (id, lock_key) VALUES ('${claim.owner}', 1);
     DROP INDEX IF EXISTS tasks_searched; -- takes long to fill
     INSERT INTO tasks (id, app, author, project, images, timeout_seconds, created, updated, deadline, refresh, may_write, status, owner)
     SELECT gen_random_uuid(), CASE WHEN n % 3 = 0 THEN 'shop' ELSE 'app' || n % 300 END, 'ada', 'shop', '[]', 600, now() - n * interval '1 s',
       now() - n * interval '1 s', now() + interval '600 s', true, true,
       CASE WHEN n <= 1000 THEN 'in progress' ELSE 'deployed' END, '${claim.owner}'
     FROM generate_series(1, ${ended}) AS n;
     INSERT INTO repositories (name, owner)
     SELECT 'git.example/' || n, '${claim.owner}' FROM generate_series(1, 50) AS n
     UNION ALL VALUES ('${claim.repository}', '${claim.owner}'::uuid);
     INSERT INTO pending_writes (task_id, repository, branch, address, plan, state, created, updated)
     SELECT id, CASE WHEN status = 'deployed' THEN 'git.example/' || abs(hashtext(id::text)) % 50
         ELSE '${claim.repository}' END, 'main', '${address}', jsonb_build_object('file', repeat('a', 200)),
       CASE WHEN status = 'deployed' OR hashtext(id::text) % 2 = 0 THEN 'landed' ELSE 'queued' END, created, updated FROM tasks;
     ANALYZE`,
  )
  const open = await database.query
    .selectFrom('pending_writes')
    .select('task_id')
    .where('state', '=', 'queued')
    .execute()
  return open.map(({ task_id }) => task_id)
}

/** The same database, and what is asked of it. */
function recorded() {
  const statements: Statement[] = []
  const compiler = new PostgresQueryCompiler()
  const recorder: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      statements.push(compiler.compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return { statements, database: { ...database, query: database.query.withPlugin(recorder) } }
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

/** The tables that a statement reads from end to end. */
async function tablesScanned({ sql: text, parameters }: Statement): Promise<readonly string[]> {
  const client = new Client({ connectionString: testDatabase.url })
  await client.connect()
  try {
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`, [...parameters])
    const scans = nodesOf(rows[0]['QUERY PLAN'][0].Plan).filter((node) => node['Node Type'] === 'Seq Scan')
    return scans.flatMap((node) => node['Relation Name'] ?? [])
  } finally {
    await client.end()
  }
}

test(`beside ${ended} ended writes no statement of the queue reads a large table from end to end`, async () => {
  const open = await fill()
  const [first = ''] = open
  const batch = open.slice(0, 400)
  const { statements, database: asked } = recorded()
  const store = createPendingWriteStore(asked)
  const target = { commit: 'c'.repeat(40), repository: claim.repository, branch: claim.branch }
  const results = batch.map((taskId) => ({
    taskId,
    outcome: { kind: 'landed' as const, ...target },
    events: [],
  }))
  const calls: Record<keyof PendingWriteStore, () => Promise<unknown>> = {
    queue: () => store.queue({ taskId: first, owner: claim.owner, fence: '0' }, plan),
    outcomeOf: () => store.outcomeOf(first),
    claimRepositories: () => store.claimRepositories(claim.owner),
    openOfAll: () => store.openOfAll(),
    openWrites: () => store.openWrites(claim, 500),
    recordReason: () => store.recordReason(claim, batch, 'two'),
    beginPush: () => store.beginPush(claim, 'b'.repeat(40), batch),
    queueAgain: () => store.queueAgain(claim, batch),
    recordLatePush: () => store.recordLatePush(results),
    record: () => store.record(claim, results),
    showCommit: () => store.showCommit(first, 'c'.repeat(40)),
    owns: () => store.owns(claim),
    moveToBranch: () => store.moveToBranch(claim, batch, 'release'),
    outcomesForOwner: () => store.outcomesForOwner(claim.owner, 63),
    hasNewerTask: () => store.hasNewerTask(first),
    giveAway: () => store.giveAway(claim),
    release: () => store.release(claim.owner),
  }
  for (const call of Object.values(calls)) await call()
  const scanned: string[] = []
  for (const statement of statements) {
    for (const table of await tablesScanned(statement)) {
      if (['pending_writes', 'tasks'].includes(table)) scanned.push(`${table}: ${statement.sql}`)
    }
  }
  expect(scanned).toEqual([])
  expect(statements.filter(({ sql: text }) => text.includes('pending_writes')).length).toBeGreaterThan(10)
})
