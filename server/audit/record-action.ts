import type { Kysely, RawBuilder } from 'kysely'
import type { ActorKind, AuditAction } from '../../contract/audit.ts'
import { insertRow } from '../storage/insert-row.ts'
import type { Schema } from '../storage/schema.ts'

/** Who acts, as far as the credential tells. */
export type Actor = {
  readonly kind: ActorKind
  /** `sub` of a user or a JWT, or the id of a scoped deploy token. */
  readonly id: string | null
  readonly name: string | null
}

type Action = {
  readonly action: AuditAction
  readonly actor: Actor
  /** Id of what it was done to. */
  readonly subject?: string
  readonly detail?: string
}

/** Writes who does what, in the transaction that does it: neither happens without the other. */
export async function recordAction(transaction: Kysely<Schema>, action: Action) {
  await transaction.insertInto('audit').values(auditRowOf(action)).execute()
}

/** The part of a statement that does the same. */
export const insertAction = (schema: string, action: Action): RawBuilder<unknown> =>
  insertRow(schema, 'audit', auditRowOf(action))

const auditRowOf = ({ action, actor, subject, detail }: Action) => ({
  action,
  actor_kind: actor.kind,
  actor: actor.id,
  actor_name: actor.name,
  subject: subject ?? null,
  detail: detail ?? null,
})
