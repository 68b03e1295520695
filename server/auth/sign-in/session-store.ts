import { type SqlBool, sql } from 'kysely'
import { digestOf, isOpaqueId, makeOpaqueId } from '../../secrets/secret-digest.ts'
import type { Database } from '../../storage/database.ts'
import type { User } from '../access/principal.ts'
import type { ProviderTokens, SignInSecrets } from './identity-provider.ts'
import { openTokens, sealTokens } from './sealed-tokens.ts'

export type Session = { readonly id: string; readonly user: User; readonly isFresh: boolean; readonly expires: Date }

/** A sign-in that was begun in a browser. */
type SignIn = SignInSecrets & { readonly returnPath: string }

/** How long the provider's word about a user counts. */
const checkedForSeconds = 60
/** Longer than the provider's answers may take together. */
const leaseSeconds = 30

const expires = sql<Date>`least(last_used + interval '8 hours', created + interval '24 hours')`
const isAlive = sql<SqlBool>`${expires} > clock_timestamp()`
const isFresh = sql<boolean>`checked > clock_timestamp() - make_interval(secs => ${checkedForSeconds})`
const isBegun = sql<SqlBool>`created > clock_timestamp() - interval '10 minutes'`

/** All SQL of sessions and sign-ins (decision 0005). Ids are given to browsers; only their digests are stored. */
export function createSessionStore({ query }: Database) {
  return {
    /** @returns the id for the browser's cookie */
    async beginSignIn({ state, nonce, codeVerifier, returnPath }: SignIn): Promise<string> {
      await query.deleteFrom('sign_ins').where(sql<SqlBool>`NOT (${isBegun})`).execute()
      const id = makeOpaqueId()
      await query
        .insertInto('sign_ins')
        .values({ id_digest: digestOf(id), state, nonce, code_verifier: codeVerifier, return_path: returnPath })
        .execute()
      return id
    },

    /** Gives a sign-in once, and for ten minutes. */
    async takeSignIn(id: string): Promise<SignIn | undefined> {
      const row = await query
        .deleteFrom('sign_ins')
        .where('id_digest', '=', digestOf(id))
        .returningAll()
        .returning(isBegun.as('is_begun'))
        .executeTakeFirst()
      if (!row?.is_begun) return undefined
      return { state: row.state, nonce: row.nonce, codeVerifier: row.code_verifier, returnPath: row.return_path }
    },

    /** @returns the id for the browser's cookie, always a new one */
    async create(user: User, tokens: ProviderTokens): Promise<string> {
      await query.deleteFrom('sessions').where(sql<SqlBool>`NOT (${isAlive})`).execute()
      const id = makeOpaqueId()
      await query
        .insertInto('sessions')
        .values({
          id_digest: digestOf(id),
          subject: user.subject,
          name: user.name,
          groups: [...user.groups],
          tokens: sealTokens(tokens, id),
        })
        .execute()
      return id
    },

    /** A session that has not expired; using one prolongs it, to be written down once a minute, and a mere look does not. */
    async find(id: string, purpose: 'use' | 'peek' = 'use'): Promise<Session | undefined> {
      if (!isOpaqueId(id)) return undefined
      const row = await query
        .selectFrom('sessions')
        .select(['subject', 'name', 'groups', 'has_stale_groups'])
        .select([
          isFresh.as('is_fresh'),
          sql<boolean>`last_used < clock_timestamp() - interval '1 minute'`.as('is_stale'),
          expires.as('expires'),
        ])
        .where('id_digest', '=', digestOf(id))
        .where(isAlive)
        .executeTakeFirst()
      if (!row) return undefined
      if (row.is_stale && purpose === 'use') await touch(id)
      const { subject, name, groups, has_stale_groups: hasStaleGroups } = row
      return { id, user: { subject, name, groups, hasStaleGroups }, isFresh: row.is_fresh, expires: row.expires }
    },

    /**
     * Lets one caller over all replicas ask the provider about a user who was not looked up within the last minute.
     * @returns the tokens, or undefined where another caller has the lease; it ends by `saveUser`, `end`, `releaseLease` or time
     */
    async acquireLease(id: string): Promise<ProviderTokens | undefined> {
      const row = await query
        .updateTable('sessions')
        .set({ asked_until: sql`clock_timestamp() + make_interval(secs => ${leaseSeconds})` })
        .where('id_digest', '=', digestOf(id))
        .where(sql<SqlBool>`NOT (${isFresh})`)
        .where(sql<SqlBool>`coalesce(asked_until <= clock_timestamp(), true)`)
        .returning('tokens')
        .executeTakeFirst()
      return row && openTokens(row.tokens, id)
    },

    async releaseLease(id: string): Promise<void> {
      await query.updateTable('sessions').set({ asked_until: null }).where('id_digest', '=', digestOf(id)).execute()
    },

    async saveTokens(id: string, tokens: ProviderTokens): Promise<void> {
      await query
        .updateTable('sessions')
        .set({ tokens: sealTokens(tokens, id) })
        .where('id_digest', '=', digestOf(id))
        .execute()
    },

    /** Stores what the provider says about the user now. */
    async saveUser(id: string, { name, groups, hasStaleGroups = false }: User): Promise<void> {
      await query
        .updateTable('sessions')
        .set({
          name,
          groups: [...groups],
          has_stale_groups: hasStaleGroups,
          checked: sql`clock_timestamp()`,
          asked_until: null,
        })
        .where('id_digest', '=', digestOf(id))
        .execute()
    },

    async end(id: string): Promise<void> {
      await query.deleteFrom('sessions').where('id_digest', '=', digestOf(id)).execute()
    },
  }

  async function touch(id: string): Promise<void> {
    await query
      .updateTable('sessions')
      .set({ last_used: sql`clock_timestamp()` })
      .where('id_digest', '=', digestOf(id))
      .execute()
  }
}
export type SessionStore = ReturnType<typeof createSessionStore>
