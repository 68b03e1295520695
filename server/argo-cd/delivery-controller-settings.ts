/** How the delivery controller is reached. */
export type DeliveryControllerSettings = {
  readonly url: string
  /** Base of the links shown to people; `undefined`: the URL itself. */
  readonly urlAlias: string | undefined
  /** Asked for each call, because a mounted token can change. */
  token(): string
  readonly apiTimeoutMs: number
  /** How often a call that got no usable answer is tried again. */
  readonly apiRetries: number
  readonly projects: readonly string[]
  readonly selector: string | undefined
  readonly caFile: string | undefined
  readonly skipTlsVerify: boolean
}

/** Where links to applications begin. Credentials in the URL are never shown. */
export function linkBaseOf({ url, urlAlias }: Pick<DeliveryControllerSettings, 'url' | 'urlAlias'>): string {
  return baseUrl(urlAlias ?? url).href.replace(/(?<!\/)\/+$/, '')
}

/** The URL without credentials, query and fragment, its path ending in a slash: `--rootpath` may put a prefix before `/api`. */
export function baseUrl(url: string): URL {
  const base = new URL(url)
  base.username = ''
  base.password = ''
  base.search = ''
  base.hash = ''
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return base
}
