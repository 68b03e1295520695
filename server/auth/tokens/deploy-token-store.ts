import { randomUUID } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { DeployToken, DeployTokenRequest, IssuedDeployToken } from '../../../contract/auth.ts'
import { type Actor, recordAction } from '../../audit/record-action.ts'
import { digestOf, isOpaqueId, makeOpaqueId } from '../../secrets/secret-digest.ts'
import type { Database } from '../../storage/database.ts'
import type { Schema } from '../../storage/schema.ts'
import { withCanonicalNames } from '../access/scope.ts'
import { type AuthResult, rejected, scopedTokenPrefix } from '../credentials/authenticate.ts'

const maxListed = 1_000
/** A year, also a leap year. */
const maxLifetimeMs = 366 * 24 * 60 * 60 * 1000

/** All SQL of scoped deploy tokens. Only the digest of a token is stored. */
export function createDeployTokenStore({ query }: Database, controlPlaneNamespace: string) {
  return {
    /** @returns the token, shown this once; `past` where it would have expired already, `too_late` where after a year */
    issue: (
      { apps, description, expires }: DeployTokenRequest,
      actor: Actor,
    ): Promise<IssuedDeployToken | 'past' | 'too_late'> =>
      query.transaction().execute(async (transaction) => {
        const token = `${scopedTokenPrefix}${makeOpaqueId()}`
        const row = await transaction
          .insertInto('deploy_tokens')
          .values({
            id: randomUUID(),
            digest: digestOf(token),
            apps: apps ?? null,
            description,
            created_by: actor.name ?? actor.id ?? 'unknown',
            expires: new Date(expires * 1000),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        const lifetimeMs = row.expires.getTime() - row.created.getTime()
        if (lifetimeMs <= 0 || lifetimeMs > maxLifetimeMs) {
          await transaction.deleteFrom('deploy_tokens').where('id', '=', row.id).execute()
          return lifetimeMs <= 0 ? 'past' : 'too_late'
        }
        const detail = `${description}, for ${apps?.join(', ') ?? 'all applications'}`
        await recordAction(transaction, { action: 'token_issued', actor, subject: row.id, detail })
        return { ...shown(row), token }
      }),

    /** Newest first, also those that are over, but none of these in the place of one that is good. */
    async list(): Promise<DeployToken[]> {
      const listed = query
        .selectFrom('deploy_tokens')
        .selectAll()
        .orderBy(sql`revoked IS NULL AND expires > clock_timestamp()`, 'desc')
        .orderBy('created', 'desc')
        .limit(maxListed)
      const rows = await query.selectFrom(listed.as('listed')).selectAll().orderBy('created', 'desc').execute()
      return rows.map(shown)
    },

    /** Ends a token at once. @returns it; undefined if there is none with this id */
    revoke: (id: string, actor: Actor): Promise<DeployToken | undefined> =>
      query.transaction().execute(async (transaction) => {
        const row = await transaction
          .selectFrom('deploy_tokens')
          .selectAll()
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst()
        if (!row || row.revoked) return row && shown(row)
        const revoked = await transaction
          .updateTable('deploy_tokens')
          .set({ revoked: sql`clock_timestamp()` })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow()
        await recordAction(transaction, { action: 'token_revoked', actor, subject: id, detail: row.description })
        return shown(revoked)
      }),

    /** Says whether a presented token is good now; which applications it is good for is authorized with the request. */
    async verify(token: string): Promise<AuthResult> {
      if (!isOpaqueId(token.slice(scopedTokenPrefix.length))) return unknown
      const row = await query
        .selectFrom('deploy_tokens')
        .select(['id', 'apps', 'description', 'revoked', 'expires'])
        .select([
          sql<boolean>`expires <= clock_timestamp()`.as('is_over'),
          sql<boolean>`coalesce(last_used < clock_timestamp() - interval '1 minute', true)`.as('is_stale'),
        ])
        .where('digest', '=', digestOf(token))
        .executeTakeFirst()
      if (!row) return unknown
      if (row.revoked) return rejected(`the deploy token was revoked at ${row.revoked.toISOString()}`)
      const { id, description } = row
      const scope = row.apps ? withCanonicalNames(row.apps, controlPlaneNamespace) : 'all'
      const principal = { kind: 'scoped_token', id, description, scope } as const
      if (row.is_over) return rejected(`the deploy token expired at ${row.expires.toISOString()}`, principal)
      if (row.is_stale) await touch(row.id)
      return { kind: 'verified', principal }
    },
  }

  /** At most once a minute for each token, whatever a pipeline sends. */
  async function touch(id: string): Promise<void> {
    await query.updateTable('deploy_tokens').set({ last_used: sql`clock_timestamp()` }).where('id', '=', id).execute()
  }
}
export type DeployTokenStore = ReturnType<typeof createDeployTokenStore>

const unknown = rejected('the deploy token is unknown')

const shown = (row: Selectable<Schema['deploy_tokens']>): DeployToken => ({
  id: row.id,
  apps: row.apps,
  description: row.description,
  created: row.created.getTime() / 1000,
  created_by: row.created_by,
  expires: row.expires.getTime() / 1000,
  last_used: row.last_used && row.last_used.getTime() / 1000,
  revoked: row.revoked && row.revoked.getTime() / 1000,
})
