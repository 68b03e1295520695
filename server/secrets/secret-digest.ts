import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits in base64url, 43 characters, so that guessing one is infeasible. */
export const makeOpaqueId = () => randomBytes(32).toString('base64url')

export const isOpaqueId = (text: string) => /^[\w-]{43}$/.test(text)

/** What is stored of an id or a token that random bits make; a plain digest is enough for those. */
export const digestOf = (text: string) => createHash('sha256').update(text, 'utf8').digest()

/** Compares digests, because the constant-time comparison throws on unequal lengths. */
export const isSameSecret = (presented: string, expected: string) =>
  timingSafeEqual(digestOf(presented), digestOf(expected))
