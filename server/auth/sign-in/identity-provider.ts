import * as client from 'openid-client'
import { IdentityProviderUnavailableError } from '../access/auth-errors.ts'
import type { User } from '../access/principal.ts'
import type { IdentityProviderSettings } from './identity-provider-settings.ts'
import { isProviderOutage } from './is-provider-outage.ts'
import { InvalidUserError, userOfClaims } from './user-of-claims.ts'

/** What the provider gave for a user; kept on the server, never in a browser. */
export type ProviderTokens = {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly idToken: string | undefined
}

/** A user of whom the provider has returned claims before. */
export type KnownUser = { readonly subject: string; readonly claims: Readonly<Record<string, unknown>> }

/** The secrets of one sign-in, from its beginning to its end. */
export type SignInSecrets = { readonly state: string; readonly nonce: string; readonly codeVerifier: string }

/** `refused`: the provider answered, and does not vouch. */
type Answer<Value> = ({ readonly kind: 'good' } & Value) | { readonly kind: 'refused'; readonly cause: unknown }

const limitSeconds = 5
/** Metadata may change, for instance where the keys lie. */
const metadataMs = 60 * 60 * 1000
const afterFailureMs = 2_000

/**
 * The OpenID Connect provider. It is first called when needed, so the service starts without it.
 * Every call throws an {@link IdentityProviderUnavailableError} while it does not answer.
 */
export function createIdentityProvider(settings: IdentityProviderSettings, nowMs: () => number) {
  let known: { readonly metadata: client.ServerMetadata; readonly untilMs: number } | undefined
  let failed: { readonly error: unknown; readonly untilMs: number } | undefined
  let pending: Promise<client.ServerMetadata> | undefined
  const isInsecure = new URL(settings.issuerUrl).protocol === 'http:'

  async function discover(): Promise<client.ServerMetadata> {
    try {
      const found = await client.discovery(new URL(settings.issuerUrl), settings.clientId, undefined, client.None(), {
        timeout: limitSeconds,
        ...(isInsecure ? { execute: [client.allowInsecureRequests] } : {}),
      })
      known = { metadata: { ...found.serverMetadata() }, untilMs: nowMs() + metadataMs }
      return known.metadata
    } catch (error) {
      failed = { error, untilMs: nowMs() + afterFailureMs }
      if (known) return known.metadata // an old answer is better than none
      throw error
    }
  }

  async function metadata(): Promise<client.ServerMetadata> {
    if (known && nowMs() < known.untilMs) return known.metadata
    if (failed && nowMs() < failed.untilMs) {
      if (known) return known.metadata
      throw new IdentityProviderUnavailableError({ cause: failed.error })
    }
    pending ??= discover().finally(() => {
      pending = undefined
    })
    try {
      return await pending
    } catch (cause) {
      throw new IdentityProviderUnavailableError({ cause })
    }
  }

  /** Created for each use, because the client's secret may have been rotated. */
  async function configuration(): Promise<client.Configuration> {
    const server = await metadata()
    const configured = new client.Configuration(
      server,
      settings.clientId,
      undefined,
      authenticationFor(server, settings),
    )
    configured.timeout = limitSeconds
    if (isInsecure) client.allowInsecureRequests(configured)
    return configured
  }

  async function ask<Value extends object>(
    call: (provider: client.Configuration) => Promise<Value>,
  ): Promise<Answer<Value>> {
    const provider = await configuration()
    try {
      return { kind: 'good', ...(await call(provider)) }
    } catch (cause) {
      if (!(cause instanceof InvalidUserError) && isProviderOutage(cause))
        throw new IdentityProviderUnavailableError({ cause })
      return { kind: 'refused', cause }
    }
  }

  return {
    metadata,

    /** Where a browser goes to sign in. */
    async signInUrl(redirectUri: string, secrets: SignInSecrets): Promise<URL> {
      return client.buildAuthorizationUrl(await configuration(), {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.codeVerifier),
        code_challenge_method: 'S256',
      })
    },

    /** Ends a sign-in: `callback` is the address that the provider sent the browser to. */
    signIn: (callback: URL, { state, nonce, codeVerifier }: SignInSecrets) =>
      ask(async (provider) => {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier }
        const answer = await client.authorizationCodeGrant(provider, callback, { ...checks, idTokenExpected: true })
        const claims = answer.claims()
        if (!claims) throw new client.ClientError('the provider sent no ID token')
        const tokens = tokensOf(answer)
        const info = await client.fetchUserInfo(provider, tokens.accessToken, claims.sub)
        return { user: userOfClaims(claims.sub, info, claims), tokens }
      }),

    /**
     * Whose token this is, by the provider's word: the user's who is `known`, whose claims count where it has none of its own;
     * `namesGroups`: it has groups of its own.
     */
    userOf: (
      accessToken: string,
      known?: KnownUser,
    ): Promise<Answer<{ readonly user: User; readonly namesGroups: boolean }>> =>
      ask(async (provider) => {
        const info = await client.fetchUserInfo(provider, accessToken, known?.subject ?? client.skipSubjectCheck)
        return { user: userOfClaims(info.sub, info, known?.claims ?? {}), namesGroups: info.groups !== undefined }
      }),

    /** Gives new tokens for a refresh token; a provider may renew only some of them. */
    refresh: (refreshToken: string): Promise<Answer<{ readonly tokens: ProviderTokens }>> =>
      ask(async (provider) => {
        const answer = await client.refreshTokenGrant(provider, refreshToken)
        return { tokens: tokensOf(answer) }
      }),

    /** Where a browser goes to sign out there too; undefined where the provider has no such place, or does not answer. */
    async signOutUrl(returnUrl: string): Promise<URL | undefined> {
      try {
        const provider = await configuration()
        if (provider.serverMetadata().end_session_endpoint === undefined) return undefined
        // Without id_token_hint: the address goes through the browser, and no token may (decision 0005).
        return client.buildEndSessionUrl(provider, { post_logout_redirect_uri: returnUrl })
      } catch (error) {
        if (error instanceof IdentityProviderUnavailableError) return undefined
        throw error
      }
    },
  }
}
export type IdentityProvider = ReturnType<typeof createIdentityProvider>

const tokensOf = (answer: client.TokenEndpointResponse): ProviderTokens => ({
  accessToken: answer.access_token,
  refreshToken: answer.refresh_token,
  idToken: answer.id_token,
})

/** As the provider's metadata says; where it says nothing, Basic is the standard's default (OpenID Connect Discovery 3). */
function authenticationFor(
  server: client.ServerMetadata,
  { clientSecret }: IdentityProviderSettings,
): client.ClientAuth {
  if (!clientSecret) return client.None()
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
  return methods.includes('client_secret_basic')
    ? client.ClientSecretBasic(clientSecret())
    : client.ClientSecretPost(clientSecret())
}
