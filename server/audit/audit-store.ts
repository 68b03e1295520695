import { type Kysely, type Selectable, sql } from 'kysely'
import type { AuditAction, AuditEntry, AuditFilter, AuditPage } from '../../contract/audit.ts'
import { fillAnswer } from '../http/limits/fill-answer.ts'
import type { Database } from '../storage/database.ts'
import type { Schema } from '../storage/schema.ts'

const usualPage = 100

/** Reading the audit; each action writes its entry in its own transaction (record-action.ts). */
export function createAuditStore({ query }: Database) {
  return {
    /** Newest first. */
    async page({ before, action: actions, limit = usualPage }: AuditFilter, address = ''): Promise<AuditPage> {
      const newest = (entries: ReturnType<typeof ofAudit>) =>
        entries
          .$if(before !== undefined, (some) => some.where('id', '<', String(before)))
          .orderBy('id', 'desc')
          .limit(limit + 1)
      let found = 0
      const { items: entries } = await fillAnswer(address, async () => {
        const rows = actions
          ? await newestOf(query, actions, limit + 1, newest)
          : await newest(ofAudit(query)).execute()
        found = rows.length
        return [rows.slice(0, limit).map(entryOf)]
      })
      return { entries, next: found > entries.length ? (entries.at(-1)?.id ?? null) : null }
    },
  }
}
export type AuditStore = ReturnType<typeof createAuditStore>

const ofAudit = (query: Kysely<Schema>) => query.selectFrom('audit').selectAll()

/** Each action apart, so that the index finds the few entries of a rare one among many of another. */
async function newestOf(
  query: Kysely<Schema>,
  actions: readonly AuditAction[],
  limit: number,
  newest: (entries: ReturnType<typeof ofAudit>) => ReturnType<typeof ofAudit>,
) {
  const pages = actions.map((action) => sql`(${newest(ofAudit(query).where('action', '=', action))})`)
  const { rows } = await sql<Selectable<Schema['audit']>>`
    SELECT * FROM (${sql.join(pages, sql` UNION ALL `)}) AS entries ORDER BY id DESC LIMIT ${limit}`.execute(query)
  return rows
}

const entryOf = ({ id, at, ...entry }: Selectable<Schema['audit']>): AuditEntry => ({
  id: Number(id),
  at: at.getTime() / 1000,
  ...entry,
})
