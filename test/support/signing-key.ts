import type { webcrypto } from 'node:crypto'
import { exportJWK, generateKeyPair, type JWK } from 'jose'

export type SigningKey = { readonly jwk: JWK; readonly privateKey: webcrypto.CryptoKey }

/** A key that tokens can be signed with; the JWK holds its private part too. */
export async function makeKey(name: string): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  return { jwk: { ...(await exportJWK(privateKey)), kid: name, alg: 'RS256', use: 'sig' }, privateKey }
}
