import { readAnswer } from './read-json.ts'

const answerTimeoutMs = 20_000

/**
 * Changes something at the service with the browser's session. The same `idempotencyKey` makes a repeated submission the
 * same one.
 * @throws {AnswerError} with the service's own words where it rejected it; a network fault or 20 s of silence as they come
 */
export async function sendJson<Answer>(
  method: 'POST' | 'DELETE',
  path: string,
  body?: object,
  idempotencyKey?: string,
): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: {
      Accept: 'application/json',
      'X-Watcher-Csrf': '1',
      ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(answerTimeoutMs),
  })
  return readAnswer<Answer>(response)
}
