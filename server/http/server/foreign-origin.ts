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

/**
 * Whether a browser sent this request to another host than that of `publicUrl`: by a name that another party gave to our
 * address, whose pages would count as ours. Node's fetch sends `Sec-Fetch-Mode: cors` alone and is no browser.
 */
export function isForeignHost(headers: Headers, host: string, publicUrl: string): boolean {
  const isFromBrowser =
    [headers.origin, headers['sec-fetch-site'], headers['sec-fetch-dest'], headers['sec-fetch-user']].some(Boolean) ||
    isNavigation(headers)
  const { protocol, host: expected } = new URL(publicUrl)
  return isFromBrowser && hostOf({ host }, protocol) !== expected
}

/** Whether a browser wants to show the answer as a page. */
export const isNavigation = (headers: Headers) => headers['sec-fetch-mode'] === 'navigate'

/** The host that was asked, without the default port of the origin's scheme: browsers leave it out in both places. */
function hostOf({ host }: Headers, protocol: string): string | undefined {
  return URL.parse(`${protocol}//${String(host)}`)?.host
}
