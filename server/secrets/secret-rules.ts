/** As long as the digest of HS256 (RFC 7518, section 3.2). */
const shortestSecretBytes = 32

/** Whether a secret that signs JWTs could be found by trying; none is not weak. */
export const isWeakSecret = (secret: string | undefined): boolean =>
  secret ? Buffer.byteLength(secret) < shortestSecretBytes : false
