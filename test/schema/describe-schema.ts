import { Client } from 'pg'

/** Each kind of object in the schema, a line each; the owner and the versions of PostgreSQL make no difference. */
const queries = {
  columns: `
    SELECT format('%s.%s %s%s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attnotnull THEN ' not null' ELSE '' END,
      coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), ''),
      ' generated ' || a.attgenerated::text || ' identity ' || a.attidentity::text || ' ' || coalesce(l.collname::text, '')) AS line
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
    WHERE c.relkind = 'r' AND c.relnamespace = $1::regnamespace`,
  options: `SELECT format('%s %s %s', relname, relkind, reloptions) AS line FROM pg_class
    WHERE relkind IN ('r', 'S', 'v', 'm') AND relnamespace = $1::regnamespace`,
  constraints: `SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS line
    FROM pg_constraint WHERE connamespace = $1::regnamespace AND contype <> 'n'`,
  indexes: `SELECT indexdef AS line FROM pg_indexes WHERE schemaname = $1`,
  functions: `SELECT format('%s %s', pg_get_functiondef(oid), proacl IS NULL) AS line FROM pg_proc
    WHERE pronamespace = $1::regnamespace`,
  triggers: `SELECT pg_get_triggerdef(t.oid) AS line FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid
    WHERE NOT tgisinternal AND c.relnamespace = $1::regnamespace`,
  types: `SELECT format('%s %s', typname, typtype) AS line FROM pg_type
    WHERE typtype IN ('e', 'd') AND typnamespace = $1::regnamespace`,
  minVersion: `SELECT 'requires migration ' || migration AS line FROM watcher.schema_min_version`,
  migrations: `SELECT name AS line FROM watcher.kysely_migration`,
}

/** What the catalogs say of the schema `watcher`: two that were made in different ways compare as equal if they are. */
export async function describeSchema(url: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const described: Record<string, string[]> = {}
    for (const [kind, query] of Object.entries(queries)) {
      const { rows } = await client.query<{ line: string }>(query, query.includes('$1') ? ['watcher'] : [])
      described[kind] = rows.map(({ line }) => line).toSorted()
    }
    return described
  } finally {
    await client.end()
  }
}
