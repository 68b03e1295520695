import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbeddedPostgres } from '../../server/storage/embedded-postgres.mjs'
import { migrate } from '../../server/storage/migrate.ts'
import { raceLock } from '../../test/support/race-lock.ts'

/** `npm run race:lock`: 20 submitters on two replicas, 300 rounds. Says how many tasks slipped past a lock that was set. */
const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-race-'))
const postgres = await startEmbeddedPostgres({ directory: folder, durable: true })
try {
  const connection = { connectionString: postgres.url }
  const settings = { connection, schema: 'watcher', maxConnections: 4, connectTimeoutMs: 10_000 }
  await migrate(settings)
  const result = await raceLock({ settings, url: postgres.url, rounds: 300, limitMs: 10 * 60_000 })
  const { submissions, rounds, accepted, slipped, slowestSetMs } = result
  console.log(
    `${slipped} of ${submissions} submissions slipped past the lock (${rounds} rounds, ${accepted} accepted before it, ` +
      `slowest lock call ${Math.round(slowestSetMs)} ms)`,
  )
  process.exitCode = slipped === 0 ? 0 : 1
} finally {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
