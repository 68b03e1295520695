import { describe, expect, test } from 'vitest'
import { UnauthorizedError } from './auth-errors.ts'
import { createAuthorize } from './authorize.ts'
import { mayRead, type ReadAccess, readerDigest } from './read-access.ts'

const now = 1_800_000_000_000
const task = {
  id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11',
  app: 'shop',
  deadline: new Date(now),
  readerDigests: ['first', 'token'].map((one) => readerDigest('019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a11', one)),
}
const with_ = (...credentials: string[]): ReadAccess => ({ kind: 'own_tasks', credentials, refusal: 'expired' })
const withScope = (...apps: string[]): ReadAccess => ({
  kind: 'principal',
  principal: { kind: 'scoped_token', id: '1', description: 'd', scope: apps },
})
const authorize = createAuthorize({
  requireCredential: false,
  enforceAllowedApps: false,
  privilegedGroups: [],
  isReadingClosed: true,
  hasUsers: true,
})

describe('where reading is closed, a task is shown', () => {
  test.for<[ReadAccess, boolean]>([
    [{ kind: 'principal', principal: { kind: 'deploy_token', scope: 'all' } }, true],
    [withScope('sh*'), true],
    [withScope('other'), false],
    [withScope(), false],
    [with_('token'), true],
    [with_('other', 'token'), true],
  ])('to %j: %s', ([reader, expected]) => expect(mayRead(reader, task, now, authorize)).toBe(expected))

  test('to its own credential also by a clock that is 90 s ahead of the database, which set the deadline (F35)', () =>
    expect(mayRead(with_('token'), task, now + 90_000, authorize)).toBe(true))

  test.for<[string, ReadAccess, Partial<typeof task>, number]>([
    ['another credential', with_('other'), {}, now],
    ['its own when the time of the task is over', with_('token'), {}, now + 120_001],
    ['its own for another task', with_('token'), { id: '019aa0c5-7d4c-7c3e-9d0a-6c1f0b3f8a12' }, now],
  ])('not to %s', ([, reader, change, at]) =>
    expect(() => mayRead(reader, { ...task, ...change }, at, authorize)).toThrow(UnauthorizedError),
  )

  test('not to any credential that failed, where none was stored', () =>
    expect(() => mayRead(with_('token'), { ...task, readerDigests: [] }, now, authorize)).toThrow('expired'))
})
