const answerTimeoutMs = 10_000

/** The service answered, but not with what was asked for. `status` is the HTTP status. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
  readonly status: number
  /** From when on another try may help, in Unix seconds; undefined where the service does not say. */
  readonly retryAt: number | undefined
  /** What a program decides by, where the service gives it: `locked`. */
  readonly code: string | undefined
  constructor(status: number, message: string, retryAfterSeconds = Number.NaN, code?: string) {
    super(message)
    this.status = status
    this.code = code
    this.retryAt = Number.isFinite(retryAfterSeconds) ? Date.now() / 1000 + retryAfterSeconds : undefined
  }
}

/** Whether the service understood and rejected it, so that asking again brings the same. */
export const isRejection = (error: Error | null): boolean => error instanceof AnswerError && error.status < 500

let admit: () => Promise<void> = async () => {}

/** From now on each read waits for `gate`, and is not sent where it throws. */
export function gateReads(gate: () => Promise<void>): void {
  admit = gate
}

/**
 * GETs JSON from the service itself.
 * @throws {AnswerError} with the service's own words where it gave some; a network fault or 10 s of silence as they come
 */
export async function readJson<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
  await admit()
  return readUngated<Answer>(path, signal)
}

/** The same for what the gate itself needs to know. */
export async function readUngated<Answer>(path: string, signal: AbortSignal): Promise<Answer> {
  const response = await fetch(path, {
    headers: { Accept: 'application/json' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
  })
  return readAnswer<Answer>(response)
}

/** @throws {AnswerError} unless the answer is what was asked for */
export async function readAnswer<Answer>(response: Response): Promise<Answer> {
  const body: unknown = await response.json().catch(() => undefined)
  if (!response.ok) {
    const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN)
    throw new AnswerError(
      response.status,
      textIn(body, 'error') ?? `it answered ${response.status}`,
      retryAfter,
      textIn(body, 'code'),
    )
  }
  if (body === undefined) throw new AnswerError(response.status, 'the answer was not JSON')
  // Same origin and same version: the service has checked its answer against the schema this type is made from.
  return body as Answer
}

function textIn(body: unknown, field: 'error' | 'code'): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const text = (body as Partial<Record<typeof field, unknown>>)[field]
  return typeof text === 'string' ? text : undefined
}
