import { decodeProtectedHeader } from 'jose'

/** Header parameters that would let the token choose its key or its encoding. */
const forbiddenParameters = ['jwk', 'jku', 'x5u', 'x5c', 'crit', 'b64', 'zip']

export const hmacAlgorithms = ['HS256', 'HS384', 'HS512']
/** Of ID tokens of a CI: signed with a key pair. */
export const idTokenAlgorithms = ['RS256', 'ES256', 'PS256', 'EdDSA']

/** Whether a token has the form of a JWT, the compact one; a signature may be missing. */
export const isJwt = (token: string) => /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)

/** The header of a JWT; undefined where the token is not a JWT. Nothing of it is verified. */
export function readHeader(token: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return { ...decodeProtectedHeader(token) }
  } catch {
    return undefined // jose throws for whatever is no header
  }
}

/** What is wrong with the form of a JWT or with its header, or nothing. */
export function headerFault(token: string, algorithms: readonly string[]): string | undefined {
  if (!isJwt(token)) return 'not a JWT: it must be three base64url parts'
  const header = readHeader(token)
  if (header === undefined) return 'not a JWT: its header is not JSON'
  if (typeof header.alg !== 'string' || !algorithms.includes(header.alg))
    return `algorithm not allowed: alg must be one of ${algorithms.join(', ')}`
  const forbidden = forbiddenParameters.find((name) => Object.hasOwn(header, name))
  return forbidden === undefined ? undefined : `algorithm not allowed: the header must not contain ${forbidden}`
}

/** The claims in the payload of a JWT; undefined where it holds no JSON object. */
export function parseClaims(payload: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? { ...claims } : undefined
  } catch {
    return undefined // neither UTF-8 nor JSON
  }
}

/** The claims of a JWT whose signature is not verified. */
export const readClaims = (token: string): Readonly<Record<string, unknown>> | undefined =>
  parseClaims(Buffer.from(token.split('.')[1] ?? '', 'base64url'))
