const mostHeaders = 100

type HeaderFault = { readonly status: 400 | 431; readonly error: string }

/** Refuses header lists that no honest client sends. `rawHeaders` alternates names and values. */
export function judgeHeaderList(rawHeaders: readonly string[]): HeaderFault | undefined {
  if (rawHeaders.length > 2 * mostHeaders) return { status: 431, error: `more than ${mostHeaders} headers` }
  const isPoisoned = rawHeaders.some((text, index) => index % 2 === 0 && text.toLowerCase() === '__proto__')
  return isPoisoned ? { status: 400, error: 'header __proto__ is not allowed' } : undefined
}
