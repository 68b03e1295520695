import { createHttpBrowser } from '../support/http-browser.ts'
import { clientId, reserveIdentityProvider } from '../support/identity-provider.ts'
import { withoutLimits } from '../support/service.ts'
import { startWorld } from '../support/world.ts'
import { fuzzCredentials, jwtSecret } from './credentials.ts'

/** A service with all its routes: an identity provider stands beside the simulator. */
export async function startFuzzWorld(options: { readonly databaseUrl?: string } = {}) {
  await using started = new AsyncDisposableStack()
  const provider = started.use(await reserveIdentityProvider())
  provider.users.set('fuzzer', { preferred_username: 'fuzzer' })
  // Of 100,000 requests only what a person should see is logged, so that it fits into memory.
  const settings = { ...withoutLimits, ...provider.settings, JWT_SECRET: jwtSecret, LOG_LEVEL: 'warn' }
  const { service } = started.use(await startWorld({ ...options, settings }))
  await provider.start(service.url)
  const nowSeconds = Math.floor(Date.now() / 1000)
  const claims = { iss: provider.issuer, aud: clientId, sub: 'fuzzer', exp: nowSeconds + 86_400 }
  const browser = createHttpBrowser()
  await browser.signIn(service.url, 'fuzzer')
  const [[name, id] = []] = browser.cookies(service.url)
  const accessToken = await provider.issueJwt(claims)
  const credentials = fuzzCredentials(nowSeconds, { accessToken, sessionCookie: `${name}=${id}` })
  const stack = started.move()
  return { service, credentials, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}
