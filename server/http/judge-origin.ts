type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Whether another site's page sent this request. Browsers name the page's origin on every state change; other clients
 * name none. Without `publicUrl` the origin's host must be the one that was asked (its scheme is the proxy's affair).
 */
export function isForeignOrigin(headers: Headers, publicUrl: string | undefined): boolean {
  if (headers['sec-fetch-site'] === 'cross-site') return true
  const origin = headers.origin
  if (origin === undefined) return false
  const url = typeof origin === 'string' && URL.canParse(origin) ? new URL(origin) : undefined
  if (url === undefined || url.origin !== origin) return true
  return publicUrl === undefined ? url.host !== hostOf(headers, url.protocol) : url.origin !== new URL(publicUrl).origin
}

/** The host that was asked, without the default port of the origin's scheme: browsers leave it out in both places. */
function hostOf(headers: Headers, protocol: string): string | undefined {
  const host = `${protocol}//${String(headers.host)}`
  return URL.canParse(host) ? new URL(host).host : undefined
}
