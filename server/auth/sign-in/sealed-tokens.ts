import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { ProviderTokens } from './identity-provider.ts'

const nonceBytes = 12
const tagBytes = 16
const Tokens = z.object({
  accessToken: z.string(),
  refreshToken: z.string().optional(),
  idToken: z.string().optional(),
})

/** Seals a user's tokens with a key that only the id in his cookie gives: the database alone does not hold them. */
export function sealTokens(tokens: ProviderTokens, sessionId: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', keyOf(sessionId), nonce)
  const sealed = Buffer.concat([cipher.update(JSON.stringify(tokens), 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** @throws if the tokens were sealed for another session, or changed since */
export function openTokens(sealed: Buffer, sessionId: string): ProviderTokens {
  const decipher = createDecipheriv('aes-256-gcm', keyOf(sessionId), sealed.subarray(0, nonceBytes))
  decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
  const text = Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()])
  const { accessToken, refreshToken, idToken } = Tokens.parse(JSON.parse(text.toString('utf8')))
  return { accessToken, refreshToken, idToken }
}

const keyOf = (sessionId: string) => Buffer.from(hkdfSync('sha256', sessionId, '', 'provider tokens', 32))
