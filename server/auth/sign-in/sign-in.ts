import { AuthorizationResponseError, randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client'
import type { SignInErrorReason } from '../../../contract/text/sign-in-error.ts'
import { IdentityProviderUnavailableError } from '../access/auth-errors.ts'
import type { IdentityProvider } from './identity-provider.ts'
import type { SessionStore } from './session-store.ts'

type Dependencies = {
  readonly provider: Pick<IdentityProvider, 'signInUrl' | 'signIn'>
  readonly sessions: Pick<SessionStore, 'beginSignIn' | 'takeSignIn' | 'create' | 'end'>
  /** Told why a sign-in failed: the browser learns only the kind of it. */
  readonly log: SignInLog
}

export type SignInLog = {
  warn(fields: { readonly err: unknown }, message: string): void
  error(fields: { readonly err: unknown }, message: string): void
}

export type SignInFailure = {
  readonly kind: 'failed'
  readonly reason: Exclude<SignInErrorReason, 'plain-http'>
  readonly back: string
}

type SignedIn = { readonly kind: 'signed_in'; readonly sessionId: string; readonly returnPath: string }

/** Signing in with a browser: authorization code with PKCE, state and nonce, all kept on the server. */
export function createSignIn({ provider, sessions, log }: Dependencies) {
  return {
    /** @returns where the browser goes, and the id that it must bring back */
    async begin(
      redirectUri: string,
      returnPath: string,
    ): Promise<{ readonly kind: 'begun'; readonly url: URL; readonly id: string } | SignInFailure> {
      const secrets = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() }
      try {
        const url = await provider.signInUrl(redirectUri, secrets)
        return { kind: 'begun', url, id: await sessions.beginSignIn({ ...secrets, returnPath }) }
      } catch (error) {
        if (!(error instanceof IdentityProviderUnavailableError)) throw error
        log.warn({ err: error }, 'sign-in failed to start, identity provider unavailable')
        return { kind: 'failed', reason: 'provider', back: returnPath }
      }
    },

    /**
     * Ends a sign-in; each can be ended once.
     * @param id of the sign-in, from the browser's cookie
     * @param callback the address that the provider sent the browser to
     * @param former id of the browser's session so far, which ends
     */
    async finish(id: string | undefined, callback: URL, former: string | undefined): Promise<SignedIn | SignInFailure> {
      const begun = id === undefined ? undefined : await sessions.takeSignIn(id)
      if (!begun) return { kind: 'failed', reason: 'expired', back: '/' }
      const { returnPath: back, ...secrets } = begun
      try {
        const answer = await provider.signIn(callback, secrets)
        if (answer.kind === 'refused') {
          const fields = { err: answer.cause }
          if (!isProvidersFault(answer.cause)) {
            log.warn(fields, 'sign-in rejected')
            return { kind: 'failed', reason: 'refused', back }
          }
          log.error(fields, 'sign-in failed, identity provider misconfigured')
          return { kind: 'failed', reason: 'provider', back }
        }
        if (former !== undefined) await sessions.end(former)
        return { kind: 'signed_in', sessionId: await sessions.create(answer.user, answer.tokens), returnPath: back }
      } catch (error) {
        if (!(error instanceof IdentityProviderUnavailableError)) throw error
        log.warn({ err: error }, 'sign-in failed, identity provider unavailable')
        return { kind: 'failed', reason: 'provider', back }
      }
    },
  }
}
export type SignIn = ReturnType<typeof createSignIn>

/** The provider was asked wrongly: nothing that the user did, so an administrator must look. */
const isProvidersFault = (cause: unknown) =>
  cause instanceof AuthorizationResponseError &&
  ['invalid_request', 'unauthorized_client', 'unsupported_response_type', 'invalid_scope'].includes(cause.error)
