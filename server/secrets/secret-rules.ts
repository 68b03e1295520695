/** As long as the digest of HS256 (RFC 7518, section 3.2). */
const shortestSecretBytes = 32

/** Whether a secret that signs JWTs could be found by trying; none is not weak. */
export const isWeakSecret = (secret: string | undefined): boolean =>
  secret ? Buffer.byteLength(secret) < shortestSecretBytes : false

/** Whether a text can be sent as the value of an HTTP header: one line of printable characters of one byte each. */
export const isHeaderText = (text: string): boolean => /^[ -~\u00a0-\u00ff]*$/.test(text)
