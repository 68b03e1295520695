import { createHmac } from 'node:crypto'

const digests: Record<string, string> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }

/** Signs anything as a JWT, also what no library would: claims may be any JSON, or the payload's own text. */
export function mintJwt(
  claims: object | string,
  secret: string,
  header: object = { alg: 'HS256', typ: 'JWT' },
): string {
  const payload = typeof claims === 'string' ? claims : JSON.stringify(claims)
  const signed = `${base64url(JSON.stringify(header))}.${base64url(payload)}`
  const alg = 'alg' in header && typeof header.alg === 'string' ? header.alg : ''
  return `${signed}.${createHmac(digests[alg] ?? 'sha256', secret)
    .update(signed)
    .digest('base64url')}`
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
