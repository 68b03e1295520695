/** The parts of a request that schemas check, as Fastify names them. */
export type RequestPart = 'body' | 'querystring' | 'params' | 'headers'

/** A request that breaks its route's schema. Each issue reads `<field>: <rule>`. */
export class InvalidRequestError extends Error {
  override readonly name = 'InvalidRequestError'
  readonly part: RequestPart
  readonly issues: readonly string[]
  constructor(part: RequestPart, issues: readonly string[]) {
    super(issues.join('; '))
    this.part = part
    this.issues = issues
  }
}

/** A request refused for its form, before any route looks at it. The message is shown to the caller. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: 400 | 403 | 404 | 405 | 409 | 413 | 415 | 429 | 431 | 503
  readonly headers: Readonly<Record<string, string>>
  constructor(
    status: HttpError['status'],
    message: string,
    headers: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.status = status
    this.headers = headers
  }
}
