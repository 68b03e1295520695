import { type RawBuilder, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** The part of a statement that inserts one row. */
export const insertRow = (schema: string, table: keyof Schema, row: object): RawBuilder<unknown> =>
  sql`INSERT INTO ${sql.id(schema, table)} (${sql.join(Object.keys(row).map((name) => sql.id(name)))})
    VALUES (${sql.join(Object.values(row))})`
