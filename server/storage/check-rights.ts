import { sql } from 'kysely'
import { type DatabaseSettings, openDatabase } from './database.ts'
import type { Schema } from './schema.ts'

/** The role of the service may not do what it needs. */
export class MissingRightsError extends Error {
  override readonly name = 'MissingRightsError'
}

type Right = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE'
const all = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const

/** What this version does with its tables. */
const requiredRights: Readonly<Record<keyof Schema, readonly Right[]>> = {
  replicas: all,
  tasks: all,
  confirmed_applications: all,
  task_pod_logs: all,
  idempotency_keys: all,
  task_events: all,
  event_counter: ['SELECT', 'UPDATE'],
  repositories: all,
  pending_writes: all,
  outbox: all,
  deliveries: all,
  disabled_targets: all,
  deploy_lock: ['SELECT', 'UPDATE'],
  deploy_lock_periods: ['SELECT', 'INSERT', 'UPDATE'],
  sessions: all,
  sign_ins: all,
  deploy_tokens: all,
  audit: ['SELECT', 'INSERT'],
}

/** @throws {MissingRightsError} naming in one line what the role lacks in the schema, and the way out */
export async function checkRights(settings: DatabaseSettings, isRetentionOn: boolean): Promise<void> {
  await using database = openDatabase({ ...settings, maxConnections: 1 }, () => undefined)
  const rights = Object.entries(requiredRights).flatMap(([table, names]) => names.map((right) => ({ table, right })))
  const { rows } = await sql<{ role: string; object: string; right: Right | 'EXECUTE' }>`
    SELECT current_user AS role, required."table" AS object, required."right"
    FROM jsonb_to_recordset(${JSON.stringify(rights)}::jsonb) AS required ("table" text, "right" text)
    WHERE NOT has_table_privilege(format('%I.%I', ${settings.schema}::text, required."table"), required."right")
    UNION ALL SELECT current_user, 'delete_old_audit', 'EXECUTE'
    WHERE ${isRetentionOn} AND NOT has_function_privilege(
      format('%I.delete_old_audit(integer, integer)', ${settings.schema}::text), 'EXECUTE')
    `.execute(database.query)
  const [first] = rows
  if (first === undefined) return
  const missing = [...Map.groupBy(rows, ({ object }) => object)].map(
    ([object, lacking]) => `${lacking.map(({ right }) => right).join(', ')} on ${object}`,
  )
  throw new MissingRightsError(
    `the database role ${first.role} lacks rights in the schema ${settings.schema}: ${missing.join('; ')}. ${wayOut}`,
  )
}

const wayOut = 'As the owner of the schema, run `npm run migrate` and the GRANT statements of docs/install.md'

export const missingSchemaRights = (schema: string, { message }: Error) =>
  new MissingRightsError(`the database role may not migrate the schema ${schema}: ${message}. ${wayOut}`)
