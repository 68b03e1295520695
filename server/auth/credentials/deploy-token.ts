import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares digests, because the constant-time comparison throws on unequal lengths. */
export function isSameSecret(presented: string, expected: string): boolean {
  return timingSafeEqual(sha256(presented), sha256(expected))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
