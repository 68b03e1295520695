type SecretReader = () => string | undefined

/** What decides about credentials. Secrets are read at each request, so that a rotated one takes effect immediately. */
export type AuthSettings = {
  readonly deployToken: SecretReader | undefined
  /** DEPLOY_TOKEN_IN_QUERY */
  readonly isDeployTokenTakenFromQuery: boolean
  readonly jwtSecret: SecretReader | undefined
  /** Accepted besides `jwtSecret` while a secret is being rotated. */
  readonly jwtSecretPrevious: SecretReader | undefined
  readonly jwtIssuer: string | undefined
  readonly jwtAudience: string | undefined
  readonly enforceAllowedApps: boolean
  /** ARGO_NAMESPACE: tokens may name its applications with it or without. */
  readonly controlPlaneNamespace: string
  readonly requireCredential: boolean
}
