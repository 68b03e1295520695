import type { IncomingMessage } from 'node:http'

/** No answer came. `isPermanent`: asking again gives the same. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  readonly isPermanent: boolean
  /** As the server asks for. */
  readonly retryAfterMs: number | undefined
  /** The status, where one came. */
  readonly status: number | undefined
  constructor(
    message: string,
    {
      isPermanent = false,
      retryAfterMs,
      status,
      cause,
    }: { isPermanent?: boolean; retryAfterMs?: number | undefined; status?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.isPermanent = isPermanent
    this.retryAfterMs = retryAfterMs
    this.status = status
  }
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the name server does not answer',
  HPE_INVALID_CONSTANT: 'the answer is not HTTP',
}

/** The codes of OpenSSL and Node for a certificate that does not hold, and for a server that does not speak TLS. */
const certificate = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/

/** Of these, where its authority is not known. */
const authority = /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/

/** @returns the failure of a request to `server` in words */
export function connectionErrorOf(error: unknown, server: URL): Error {
  if (error instanceof NoAnswerError) return error
  const { code = '', message = '' } = error as { code?: string; message?: string }
  if ((error as Error).name === 'TimeoutError') return new NoAnswerError(`${server.origin}: no answer in time`)
  if ((error as Error).name === 'AbortError') return error as Error
  if (certificate.test(code)) {
    const way = authority.test(code) ? '; --ca-file names further authorities' : ''
    const text = `${server.origin}: the certificate is not trusted: ${message}${way}`
    return new NoAnswerError(text, { isPermanent: true, cause: error })
  }
  const isPermanent = code === 'ENOTFOUND' || code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER'
  const text = code === 'EPROTO' ? 'it does not speak TLS: is the address http://?' : (words[code] ?? message)
  return new NoAnswerError(`${server.origin}: ${text || code}`, { isPermanent, cause: error })
}

/** Answers after which it is asked again: the server, or what stands before it, is busy or restarts. */
export function refusalOf({ statusCode = 0, headers }: IncomingMessage, server: URL, error: string): NoAnswerError {
  const seconds = Number(headers['retry-after'])
  return new NoAnswerError(`${server.origin} returned ${statusCode}${error === '' ? '' : `: ${error}`}`, {
    status: statusCode,
    retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined,
  })
}
