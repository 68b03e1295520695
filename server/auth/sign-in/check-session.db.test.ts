import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openFileDatabase } from '../../../test/support/database.ts'
import { startStatementLog } from '../../../test/support/statement-log.ts'
import { openDatabase } from '../../storage/database.ts'
import { IdentityProviderUnavailableError } from '../access/auth-errors.ts'
import { createCheckSession } from './check-session.ts'
import type { IdentityProvider } from './identity-provider.ts'
import { createSessionStore } from './session-store.ts'

const { testDatabase, database } = await openFileDatabase({ maxConnections: 8 })
const user = { subject: 'ada', name: 'ada', groups: ['platform'], hasStaleGroups: false }

type Provider = Pick<IdentityProvider, 'userOf' | 'refresh'>

/** Takes each refresh token once, as strict providers do, and answers slowly. */
function strictProvider() {
  let [accessToken, refreshToken, refreshes] = ['none yet', 'refresh-0', 0]
  const provider: Provider = {
    async userOf(token) {
      await delay(50)
      return token === accessToken ? { kind: 'good', user, namesGroups: true } : { kind: 'refused', cause: 'expired' }
    },
    async refresh(token) {
      await delay(50)
      if (token !== refreshToken) return { kind: 'refused', cause: 'invalid_grant' }
      refreshes += 1
      ;[accessToken, refreshToken] = [`access-${refreshes}`, `refresh-${refreshes}`]
      return { kind: 'good', tokens: { accessToken, refreshToken, idToken: undefined } }
    },
  }
  return { provider, refreshes: () => refreshes }
}

/** A session that the provider was last asked about two minutes ago. */
async function aStaleSession() {
  const sessions = createSessionStore(database)
  const id = await sessions.create(user, { accessToken: 'access-0', refreshToken: 'refresh-0', idToken: undefined })
  await sql`UPDATE watcher.sessions SET checked = checked - interval '2 min'`.execute(database.query)
  const session = await sessions.find(id)
  if (!session) throw new Error('no session')
  return { sessions, session }
}

test('two replicas that ask about one user at the same moment use the refresh token once, and he stays signed in', async () => {
  const { sessions, session } = await aStaleSession()
  const { provider, refreshes } = strictProvider()
  const replicas = [1, 2].map(() => createCheckSession({ sessions, provider, areGroupsNeeded: true }))
  expect(await Promise.all(replicas.map((check) => check(session)))).toEqual([user, user])
  expect(refreshes()).toBe(1)
  expect(await sessions.find(session.id)).toMatchObject({ isFresh: true })
})

test('ten requests of one user at the same moment cost the database what one does', async () => {
  const { sessions, session } = await aStaleSession()
  await using log = await startStatementLog({ port: Number(new URL(testDatabase.url).port) })
  const connectionString = Object.assign(new URL(testDatabase.url), { port: String(log.port) }).href
  await using logged = openDatabase({ ...testDatabase.settings, connection: { connectionString } }, () => undefined)
  const { provider } = strictProvider()
  const check = createCheckSession({ sessions: createSessionStore(logged), provider, areGroupsNeeded: true })
  const answers = await Promise.all(Array.from({ length: 10 }, () => check(session)))
  expect(new Set(answers)).toEqual(new Set([user]))
  expect(log.statements).toHaveLength(3) // the turn, the new tokens and the user
  expect(await sessions.find(session.id)).toMatchObject({ isFresh: true })
})

test('where the provider does not vouch, both are told so', async () => {
  const { sessions, session } = await aStaleSession()
  const refused = async () => ({ kind: 'refused', cause: 'gone' }) as const
  const replicas = [1, 2].map(() =>
    createCheckSession({ sessions, provider: { userOf: refused, refresh: refused }, areGroupsNeeded: true }),
  )
  expect(await Promise.all(replicas.map((check) => check(session)))).toEqual([undefined, undefined])
  expect(await sessions.find(session.id)).toBeUndefined()
})

test('a provider that does not answer keeps nobody from asking again', async () => {
  const { sessions, session } = await aStaleSession()
  const away = async () => {
    throw new IdentityProviderUnavailableError()
  }
  const check = createCheckSession({ sessions, provider: { userOf: away, refresh: away }, areGroupsNeeded: true })
  await expect(check(session)).rejects.toThrow(IdentityProviderUnavailableError)
  const { provider } = strictProvider()
  expect(await createCheckSession({ sessions, provider, areGroupsNeeded: true })(session)).toEqual(user)
})
