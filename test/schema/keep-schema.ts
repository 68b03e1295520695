import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { version } from '../../server/health/version.ts'

const migrationsFolder = path.join(import.meta.dirname, '..', '..', 'server', 'storage', 'migrations')
const keptFolder = path.join(import.meta.dirname, '..', 'fixtures', 'schema')

/** The statements that make the schema of this version, with a row in each table, as it will be found by later ones. */
async function renderSchema(): Promise<string> {
  const files = (await readdir(migrationsFolder)).filter((file) => file.endsWith('.sql')).toSorted()
  const migrations = await Promise.all(
    files.map(async (file) => `-- ${file}\n${await readFile(path.join(migrationsFolder, file), 'utf8')}`),
  )
  const executed = files.map((file) => `('${file.replace(/\.sql$/, '')}', '2026-01-01T00:00:00.000Z')`)
  return [
    `-- The schema of version ${version}, made by \`npm run schema:keep\`. Not to be changed after the release.`,
    'CREATE SCHEMA watcher;\nSET search_path TO watcher, public;',
    ...migrations,
    `CREATE TABLE kysely_migration (name varchar(255) NOT NULL PRIMARY KEY, "timestamp" varchar(255) NOT NULL);
INSERT INTO kysely_migration VALUES ${executed.join(', ')};
CREATE TABLE kysely_migration_lock (id varchar(255) NOT NULL PRIMARY KEY, is_locked integer DEFAULT 0 NOT NULL);
INSERT INTO kysely_migration_lock VALUES ('migration_lock', 0);`,
    await readFile(path.join(import.meta.dirname, 'sample-rows.sql'), 'utf8'),
  ].join('\n\n')
}

/** `npm run schema:keep`: keeps the schema of this version for the tests of later ones; run it with each release. */
const file = path.join(keptFolder, `${version}.sql`)
await mkdir(keptFolder, { recursive: true })
await writeFile(file, await renderSchema())
console.log(path.relative(process.cwd(), file))
