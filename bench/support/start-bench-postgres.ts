import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbeddedPostgres } from '../../server/storage/embedded-postgres.mjs'

/** PostgreSQL as it is delivered, durable, with the tables of the service still to come. */
export async function startBenchPostgres() {
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-bench-'))
  const postgres = await startEmbeddedPostgres({ directory: folder, durable: true })
  return {
    url: postgres.url,
    /** Where its log lies. */
    directory: postgres.directory,
    async [Symbol.asyncDispose]() {
      await postgres.stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
