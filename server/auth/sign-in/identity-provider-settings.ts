/** How people sign in, and whose access tokens count. Absent while the identity provider is off. */
export type IdentityProviderSettings = {
  /** Exactly as the provider names itself. */
  readonly issuerUrl: string
  readonly clientId: string
  /** Read at each use, since it may be rotated; undefined for a public client. */
  readonly clientSecret: (() => string) | undefined
  /** Whose members may change something; empty: every signed-in user. */
  readonly privilegedGroups: readonly string[]
  /** Separated by blanks. */
  readonly scopes: string
  /** Names in `aud` or `azp` of an access token that mean us; the client id is the first. */
  readonly audiences: readonly string[]
  readonly requireReadAuth: boolean
  /** IDP_ALLOW_HTTP_ISSUER */
  readonly allowHttpIssuer: boolean
}
