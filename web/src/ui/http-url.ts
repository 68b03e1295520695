/**
 * The address in its normal form if a browser may be sent there: http or https, without a user name or password.
 * Anything else (`javascript:`, `git@host:path`, plain text) is undefined and must be shown as text.
 */
export function httpUrl(text: string | undefined): string | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  url.username = ''
  url.password = ''
  return url.href
}
