const maxHeaders = 100

type HeaderFault = { readonly status: 400 | 431; readonly error: string }

/**
 * Refuses header lists that no honest client sends. `rawHeaders` alternates names and values. Host is asked for here,
 * once (RFC 9112, section 3.2), because Node would answer its absence without a word.
 */
export function checkHeaderList(rawHeaders: readonly string[], httpVersion: string): HeaderFault | undefined {
  if (rawHeaders.length > 2 * maxHeaders) return { status: 431, error: `more than ${maxHeaders} headers` }
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  if (names.includes('__proto__')) return { status: 400, error: 'header __proto__ is not allowed' }
  const hosts = names.filter((name) => name === 'host').length
  if (hosts > 1) return { status: 400, error: 'header Host was sent twice' }
  return hosts === 0 && httpVersion !== '1.0' ? { status: 400, error: 'header Host is missing' } : undefined
}
