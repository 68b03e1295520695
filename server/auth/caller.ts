/** Who makes a request, as far as its credential tells. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'deploy_token' }
  /** `allowedApps` is undefined where the token has no such claim, or one that is no list of strings. */
  | { readonly kind: 'jwt'; readonly subject: string | undefined; readonly allowedApps: readonly string[] | undefined }

export const anonymous: Caller = { kind: 'anonymous' }
