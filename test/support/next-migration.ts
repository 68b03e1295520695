import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const folder = new URL('../../server/storage/migrations/', import.meta.url)

/** The migrations of a version after this one: ours and another one, of this SQL. */
export async function addNextMigration(statements: string) {
  const copy = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-migrations-'))
  await cp(fileURLToPath(folder), copy, { recursive: true })
  await writeFile(path.join(copy, '9999-next.sql'), statements)
  return {
    folder: pathToFileURL(`${copy}/`),
    [Symbol.asyncDispose]: () => rm(copy, { recursive: true, force: true }),
  }
}
