import { Client } from 'pg'
import { createHttpBrowser, type HttpBrowser } from './http-browser.ts'
import { reserveIdentityProvider } from './identity-provider.ts'
import { type Service, startService } from './service.ts'

/** A service with a real identity provider, and the database behind it. */
export async function startServiceWithSignIn(settings: Readonly<Record<string, string>> = {}) {
  await using started = new AsyncDisposableStack()
  const idp = started.use(await reserveIdentityProvider())
  const service = started.use(await startService({ settings: { ...idp.settings, ...settings } }))
  const database = new Client({ connectionString: service.databaseUrl })
  await database.connect()
  started.defer(() => database.end())
  await idp.start(service.url)
  const stack = started.move()
  return {
    idp,
    service,
    database,
    /** A browser in which a user has signed in who has these groups. */
    async signedIn(user: string, groups: readonly string[] = []): Promise<HttpBrowser> {
      idp.users.set(user, { preferred_username: user, groups })
      const browser = createHttpBrowser()
      await browser.signIn(service.url, user)
      return browser
    },
    /** Another replica on the same database. */
    startReplica: (): Promise<Service> =>
      startService({ settings: { ...idp.settings, ...settings }, databaseUrl: service.databaseUrl }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
