import type { Selectable } from 'kysely'
import type { AuditEntry, AuditFilter, AuditPage } from '../../contract/audit.ts'
import { fillAnswer } from '../http/fill-answer.ts'
import type { Database } from '../storage/database.ts'
import type { Schema } from '../storage/schema.ts'

const usualPage = 100

/** Reading the audit; each entry is written by whoever acts, in the same transaction (record-action.ts). */
export function createAuditStore({ query }: Database) {
  return {
    /** Newest first. */
    async page({ before, limit = usualPage }: AuditFilter): Promise<AuditPage> {
      const rows = await query
        .selectFrom('audit')
        .selectAll()
        .$if(before !== undefined, (entries) => entries.where('id', '<', String(before)))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute()
      const { items: entries } = await fillAnswer([rows.slice(0, limit).map(entryOf)])
      return { entries, next: rows.length > entries.length ? (entries.at(-1)?.id ?? null) : null }
    },
  }
}
export type AuditStore = ReturnType<typeof createAuditStore>

const entryOf = ({ id, at, ...entry }: Selectable<Schema['audit']>): AuditEntry => ({
  id: Number(id),
  at: at.getTime() / 1000,
  ...entry,
})
