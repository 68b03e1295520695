import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startEmbeddedPostgres } from '../../launcher/embedded-postgres.mjs'
import { prepareDatabase } from '../../test/support/template-database.ts'

/** PostgreSQL as it is delivered, durable, with the empty tables of the service. */
export async function startBenchPostgres() {
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-bench-'))
  const postgres = await startEmbeddedPostgres({ directory: folder, durable: true })
  await prepareDatabase(postgres.url)
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
