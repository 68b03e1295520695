/** What the tests use of the package, which brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  type Saved = { save(): Promise<string> }

  export class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    readonly Client: { find(id: string): Promise<object | undefined> }
    readonly Grant: new (of: {
      accountId: string
      clientId: string
    }) => Saved & { addOIDCScope(scope: string): void }
    readonly AccessToken: new (of: {
      accountId: string
      client: object | undefined
      grantId: string
      gty: string
      scope: string
    }) => Saved
  }
}
