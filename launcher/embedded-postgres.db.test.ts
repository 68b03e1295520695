import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { queryOnce } from '../test/support/database.ts'
import { startEmbeddedPostgres } from './embedded-postgres.mjs'

const folder = await mkdtemp(path.join(tmpdir(), 'embedded-postgres-'))
const module_ = new URL('./embedded-postgres.mjs', import.meta.url).href
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Runs one start in a process of its own and kills it as soon as the database is up. */
async function startAndBeKilled(directory: string): Promise<void> {
  const script = `const { startEmbeddedPostgres } = await import(${JSON.stringify(module_)})
    await startEmbeddedPostgres({ directory: ${JSON.stringify(directory)}, durable: false })
    console.log('up')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

test('data and password outlive a stop; a start after a kill and beside a stranger with the old number works', async () => {
  const directory = path.join(folder, 'kept')
  const first = await startEmbeddedPostgres({ directory, durable: false })
  await queryOnce(first.url, 'CREATE TABLE kept AS SELECT 42 AS value')
  await first.stop()
  await expect(queryOnce(first.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')

  await startAndBeKilled(directory)
  const second = await startEmbeddedPostgres({ directory, durable: false })
  expect(await queryOnce(second.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }])
  await second.stop()

  await writeFile(path.join(second.directory, 'cluster', 'postmaster.pid'), `${process.pid}\n`)
  const third = await startEmbeddedPostgres({ directory, durable: false })
  expect(await queryOnce(third.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }])
  await third.stop()
})

test('two start at the same time, each on a port of its own', async () => {
  const started = await Promise.all(
    ['one', 'two'].map((name) => startEmbeddedPostgres({ directory: path.join(folder, name), durable: false })),
  )
  expect(new Set(started.map(({ url }) => url)).size).toBe(2)
  await Promise.all(started.map(({ stop }) => stop()))
})

test('a cluster that cannot start is said with the end of its log', async () => {
  const directory = path.join(folder, 'broken')
  const { stop, directory: place } = await startEmbeddedPostgres({ directory, durable: false })
  await stop()
  await writeFile(path.join(place, 'cluster', 'postgresql.conf'), 'no such thing = 1\n')
  await expect(startEmbeddedPostgres({ directory, durable: false })).rejects.toThrow(/did not start.*syntax error/s)
})
