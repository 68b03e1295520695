import { setTimeout as delay } from 'node:timers/promises'
import { decodeJwt } from 'jose'
import { IdentityProviderUnavailableError } from '../access/auth-errors.ts'
import type { User } from '../access/principal.ts'
import type { IdentityProvider, ProviderTokens } from './identity-provider.ts'
import type { Session, SessionStore } from './session-store.ts'

type Dependencies = {
  readonly sessions: Pick<SessionStore, 'find' | 'acquireLease' | 'releaseLease' | 'saveTokens' | 'saveUser' | 'end'>
  readonly provider: Pick<IdentityProvider, 'userOf' | 'refresh'>
  /** IDP_PRIVILEGED_GROUPS is set, so that groups decide what a user may change. */
  readonly areGroupsNeeded: boolean
}

/** The user as the provider knows him now; undefined when it does not vouch for him any more, and the session is over. */
export type CheckSession = (session: Session) => Promise<User | undefined>

const pollMs = 100
/** For the answer that another replica is waiting for. */
const patienceMs = 10_000

/**
 * Asks the provider about a signed-in user before he changes something, unless it was asked within the last minute.
 * Requests that come together share one question, over all replicas, because some providers take a refresh token once only.
 * @throws {IdentityProviderUnavailableError} where it does not answer
 */
export function createCheckSession({ sessions, provider, areGroupsNeeded }: Dependencies): CheckSession {
  const pending = new Map<string, Promise<User | undefined>>()

  return async (session) => {
    if (session.isFresh) return session.user
    const answer = pending.get(session.id) ?? ask(session).finally(() => pending.delete(session.id))
    pending.set(session.id, answer)
    return answer
  }

  async function ask({ id, user }: Session): Promise<User | undefined> {
    for (const givesUpAt = performance.now() + patienceMs; ; await delay(pollMs)) {
      const tokens = await sessions.acquireLease(id)
      if (tokens) return judge(id, user, tokens)
      const session = await sessions.find(id)
      if (session === undefined || session.isFresh) return session?.user
      if (performance.now() > givesUpAt) throw new IdentityProviderUnavailableError()
    }
  }

  async function judge(id: string, user: User, tokens: ProviderTokens): Promise<User | undefined> {
    try {
      const now = await vouchedUser(id, user, tokens)
      await (now ? sessions.saveUser(id, now) : sessions.end(id))
      return now
    } catch (error) {
      await sessions.releaseLease(id)
      throw error
    }
  }

  /** An access token that has expired is renewed, and so is an ID token that groups stand in alone. */
  async function vouchedUser(id: string, user: User, tokens: ProviderTokens): Promise<User | undefined> {
    const vouched = await askAbout(tokens, user)
    if (vouched && !vouched.needsIdToken) return vouched.user
    const renewed = await renew(id, tokens)
    if (!renewed) return vouched && { ...vouched.user, hasStaleGroups: true }
    const again = await askAbout(renewed.tokens, user)
    return again && { ...again.user, hasStaleGroups: again.needsIdToken && !renewed.isIdTokenNew }
  }

  /**
   * What only the ID token says stays as it is there; what was once said elsewhere and is left out now does not.
   * `needsIdToken`: groups that matter stand in the ID token alone, so its age decides whether they count.
   */
  async function askAbout({ accessToken, idToken }: ProviderTokens, { subject }: User) {
    const decoded = idToken === undefined ? {} : decodeJwt(idToken)
    const claims = decoded.sub === subject ? decoded : {}
    const answer = await provider.userOf(accessToken, { subject, claims })
    if (answer.kind === 'refused') return undefined
    return { user: answer.user, needsIdToken: areGroupsNeeded && !answer.namesGroups && claims.groups !== undefined }
  }

  /** Undefined where the provider gives no new tokens. */
  async function renew(id: string, former: ProviderTokens) {
    if (former.refreshToken === undefined) return undefined
    const answer = await provider.refresh(former.refreshToken)
    if (answer.kind === 'refused') return undefined
    const { accessToken, refreshToken = former.refreshToken, idToken = former.idToken } = answer.tokens
    const tokens = { accessToken, refreshToken, idToken }
    await sessions.saveTokens(id, tokens)
    return { tokens, isIdTokenNew: answer.tokens.idToken !== undefined }
  }
}
