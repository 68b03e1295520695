import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbeddedPostgres } from '../../server/storage/embedded-postgres.mjs'
import { prepareDatabase } from '../support/template-database.ts'
import { fuzzService } from './fuzz-service.ts'
import { renderReport } from './render-report.ts'
import { residentBytes } from './resident-bytes.ts'
import { startFuzzWorld } from './start-fuzz-world.ts'

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '100000' }, seed: { type: 'string', default: String(Date.now()) } },
})

/** `npm run fuzz -- --cases N --seed S`: requests against a service with everything it needs beside it. */
async function main(): Promise<void> {
  await using started = new AsyncDisposableStack()
  const directory = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-fuzz-'))
  started.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const postgres = started.adopt(await startEmbeddedPostgres({ directory, durable: false }), ({ stop }) => stop())
  await prepareDatabase(postgres.url)
  const { service, credentials } = started.use(await startFuzzWorld({ databaseUrl: postgres.url }))
  const began = performance.now()
  const limits = { cases: Number(values.cases), seed: Number(values.seed) % 2 ** 31 }
  const report = await fuzzService(service, credentials, limits)
  const seconds = (performance.now() - began) / 1000
  process.stdout.write(`${renderReport(report, seconds, await residentBytes(service))}\n`)
  if (/"level":[56]0|unhandled/i.test(service.logs())) throw new Error(`the log complains:\n${service.logs()}`)
}

await main()
