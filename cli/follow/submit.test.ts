import { expect, test } from 'vitest'
import { RefusedError } from '../http/api.ts'
import { NoAnswerError } from '../http/connection-errors.ts'
import { submit } from './submit.ts'

const submission = { app: 'shop', author: 'ada', project: 'shop', images: [{ image: 'shop', tag: '1' }] }

/** Submits to a server that answers so, one error after the other. */
async function submitTo(errors: readonly Error[], patienceMs = 0) {
  const keys: string[] = []
  const submitOnce = async (_submission: unknown, key: string) => {
    const error = errors[keys.push(key) - 1]
    if (error !== undefined) throw error
    return 'the-id'
  }
  const { signal } = new AbortController()
  const result = await submit({ submit: submitOnce }, submission, 'key', { signal, patienceMs, onPause: () => {} })
  return { result, keys }
}

test('what comes again is the same submission', async () => {
  const soon = { retryAfterMs: 1, status: 503 }
  const busy = [new NoAnswerError('restarting', soon), new NoAnswerError('restarting', soon)]
  expect(await submitTo(busy, 60_000)).toEqual({ result: 'the-id', keys: ['key', 'key', 'key'] })
})

test.for<[string, Error, number, number]>([
  ['no answer in time', new NoAnswerError('connection refused'), 0, 3],
  ['an unknown host', new NoAnswerError('the host name is unknown', { isPermanent: true }), 60_000, 3],
  ['a page of another server', new NoAnswerError('not from Deployment Watcher', { status: 404 }), 60_000, 3],
  ['a quota', new NoAnswerError('too many', { status: 429 }), 0, 5],
  ['a refused credential', new RefusedError(401, { error: 'expired' }), 60_000, 4],
  ['an invalid task', new RefusedError(406, { error: 'author: must not be empty' }), 60_000, 5],
  ['a key of another task', new RefusedError(409, { error: 'key' }), 60_000, 5],
  ['a lock', new RefusedError(406, { error: 'closed', code: 'locked' }), 60_000, 6],
  ['a lock of an old server', new RefusedError(406, { error: 'lockdown is active' }), 60_000, 6],
])('%s', async ([, error, patienceMs, exitCode]) => {
  const { result, keys } = await submitTo([error], patienceMs)
  expect(result).toMatchObject({ kind: 'rejected', app: 'shop', exitCode, error: error.message })
  expect(keys).toHaveLength(1)
})
