import { createServer, type Server } from 'node:http'
import { type JWTPayload, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import { claimPort } from './claim-port.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { createKeptStorage } from './kept-storage.ts'
import { makeKey } from './signing-key.ts'

export const clientId = 'watcher'
const clientSecret = 'secret of the client in these tests'

export type TestUser = {
  readonly groups?: unknown
  readonly preferred_username?: string
  /** The groups stand in the ID token only, as Entra ID has it. */
  readonly hasGroupsInIdToken?: boolean
  readonly hasNoRefreshToken?: boolean
}

/**
 * A real OpenID Connect provider behind a proxy that can be slowed or cut. It is certified software with its own sign-in
 * form; users come and go as the test says. Start it when the service's address is known, on an issuer reserved before.
 */
export async function reserveIdentityProvider() {
  await using started = new AsyncDisposableStack()
  const port = await claimPort()
  const proxy = started.use(await startFaultProxy({ port }))
  const issuer = `http://127.0.0.1:${proxy.port}`
  const storage = createKeptStorage()
  const users = new Map<string, TestUser>()
  const calls: string[] = []
  let keys = [await makeKey('first')]
  let accessTokenSeconds = 3600
  let redirectUris: readonly string[] = []
  let running: { server: Server; provider: Provider } | undefined
  started.defer(() => stop())
  const stack = started.move()

  async function start(): Promise<void> {
    const provider = new Provider(issuer, configuration())
    const answer = provider.callback()
    const server = createServer((request, response) => {
      calls.push(`${request.method} ${request.url?.split('?', 1)[0]}`)
      void answer(request, response)
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    running = { server, provider }
  }

  async function stop(): Promise<void> {
    const { server } = running ?? {}
    running = undefined
    server?.closeAllConnections()
    await new Promise<unknown>((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  }

  const configuration = () => ({
    adapter: storage,
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: redirectUris.map((address) => `${address}/auth/callback`),
        post_logout_redirect_uris: redirectUris.map((address) => `${address}/`),
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'name', 'groups'], email: ['email'] },
    findAccount: async (_context: unknown, id: string) => {
      const user = users.get(id)
      if (user === undefined) return undefined
      const { groups, hasGroupsInIdToken = false, ...claims } = user
      return {
        accountId: id,
        claims: async (use: string) =>
          hasGroupsInIdToken === (use === 'id_token') ? { sub: id, ...claims, groups } : { sub: id, ...claims },
      }
    },
    conformIdTokenClaims: false,
    // Everything that is asked for is granted, so that no consent form stands in between.
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
    issueRefreshToken: async (_context: unknown, _client: unknown, { accountId }: { accountId: string }) =>
      users.get(accountId)?.hasNoRefreshToken !== true,
    ttl: {
      AccessToken: () => accessTokenSeconds,
      Interaction: 600,
      Grant: 3600,
      Session: 3600,
      RefreshToken: 3600,
      IdToken: 3600,
    },
    jwks: { keys: keys.map(({ jwk }) => jwk) },
    cookies: { keys: ['a key of these tests'] },
    pkce: { required: () => true },
  })

  return {
    issuer,
    users,
    calls,
    proxy,
    /** As in docs/settings.md. */
    settings: {
      IDP_ENABLED: 'true',
      IDP_ISSUER_URL: issuer,
      IDP_CLIENT_ID: clientId,
      IDP_CLIENT_SECRET: clientSecret,
    },
    /** @param addresses of services that people may sign in to */
    async start(...addresses: string[]): Promise<void> {
      redirectUris = addresses
      await start()
    },
    stop,
    restart: async () => {
      await stop()
      await start()
    },
    /** Signs with a new key from now on; the old one is gone. */
    async rotateKeys(name: string): Promise<void> {
      keys = [await makeKey(name)]
      await stop()
      await start()
    },
    letTokensExpireAfter: (seconds: number) => {
      accessTokenSeconds = seconds
    },
    /** An access token as a JWT, with whatever claims, signed by the provider's key unless another is given. */
    mintJwt,
    /** An access token that only the provider can read. */
    issueOpaqueToken: issueToken,
    /** The same as a JWT that services can judge for themselves, and that the provider's userinfo knows. */
    async issueJwt(claims: JWTPayload & { readonly sub: string }): Promise<string> {
      const token = await mintJwt({ scope: 'openid profile', ...claims })
      const known = new storage('AccessToken')
      const opaque = await known.find(await issueToken(claims.sub))
      if (opaque) await known.upsert(token, opaque)
      return token
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }

  async function mintJwt(claims: JWTPayload, header: Record<string, unknown> = {}, key = keys[0]): Promise<string> {
    if (!key) throw new Error('no key')
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: key.jwk.kid ?? '', ...header })
      .sign(key.privateKey)
  }

  async function issueToken(accountId: string, scope = 'openid profile email'): Promise<string> {
    if (!running) throw new Error('the provider does not run')
    const { provider } = running
    const grant = new provider.Grant({ accountId, clientId })
    grant.addOIDCScope(scope)
    const grantId = await grant.save()
    const client = await provider.Client.find(clientId)
    return new provider.AccessToken({ accountId, client, grantId, scope, gty: 'authorization_code' }).save()
  }
}
export type TestIdentityProvider = Awaited<ReturnType<typeof reserveIdentityProvider>>

type GrantContext = {
  readonly oidc: {
    readonly provider: Provider
    readonly client: { readonly clientId: string }
    readonly session: { readonly accountId: string }
  }
}
