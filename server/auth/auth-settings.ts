/** What decides about credentials. Secrets are read anew at each request, so that a rotated one counts at once. */
export type AuthSettings = {
  readonly deployToken: () => string | undefined
  readonly jwtSecret: () => string | undefined
  /** Accepted besides `jwtSecret` while a secret is being rotated. */
  readonly jwtSecretPrevious: () => string | undefined
  readonly jwtIssuer: string | undefined
  readonly jwtAudience: string | undefined
  readonly enforceAllowedApps: boolean
  readonly requireCredential: boolean
}
