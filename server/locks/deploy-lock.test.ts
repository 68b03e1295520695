import { describe, expect, test } from 'vitest'
import { createDeployLock } from './deploy-lock.ts'
import { DeployLockUnknownError } from './deploy-lock-errors.ts'
import { evaluateDeployLock } from './evaluate-deploy-lock.ts'
import { parseLockdownSchedule } from './parse-lockdown-schedule.ts'
import { neverSet, type StoredLock } from './stored-lock.ts'

const periods = async () => []

function lockAt(text: string, at: string, timeZone = 'UTC', stored: StoredLock = neverSet) {
  const windows = parseLockdownSchedule(text)
  if ('issue' in windows) throw new Error(windows.issue)
  return createDeployLock({
    schedule: { windows, timeZone },
    read: async () => ({ at: new Date(at), stored }),
    periods,
  })
}
const weekend = { from: new Date('2026-11-20T17:00:00Z'), to: new Date('2026-11-23T08:00:00Z') }
const nextWeekend = { from: new Date('2026-11-27T17:00:00Z'), to: new Date('2026-11-30T08:00:00Z') }

describe('the deploy lock by schedule (spec 3)', () => {
  test('is inactive before the window, which is the next one', async () =>
    expect(await lockAt('Fri 17:00 - Mon 08:00', '2026-11-20T16:59:59.999Z').status()).toEqual({
      active: false,
      source: null,
      since: null,
      until: null,
      reason: null,
      setBy: null,
      retryAfterSeconds: undefined,
      nextWindow: weekend,
      overrideUntil: null,
    }))
  test('is active from the start of the window and knows its end', async () =>
    expect(await lockAt('Fri 17:00 - Mon 08:00', '2026-11-20T17:00:00Z').status()).toEqual({
      active: true,
      source: 'schedule',
      since: weekend.from,
      until: weekend.to,
      reason: null,
      setBy: null,
      retryAfterSeconds: 63 * 3600,
      nextWindow: nextWeekend,
      overrideUntil: null,
    }))
  test.for([
    { at: '2026-11-23T07:59:59.001Z', active: true, retryAfterSeconds: 1 },
    { at: '2026-11-23T08:00:00Z', active: false, retryAfterSeconds: undefined },
  ])('at $at active is $active, to be tried again after $retryAfterSeconds s', async ({ at, ...expected }) => {
    const lock = lockAt('Fri 17:00 - Mon 08:00', at)
    expect(await lock.status()).toMatchObject(expected)
    expect(await lock.isActive()).toBe(expected.active)
  })
  test('of a whole week has neither beginning nor end', async () =>
    expect(await lockAt('Mon 00:00 - Sun 00:00, Sun 00:00 - Mon 00:00', '2026-11-20T17:00:00Z').status()).toMatchObject(
      {
        active: true,
        since: null,
        until: null,
        retryAfterSeconds: undefined,
        nextWindow: null,
      },
    ))
  test('whose only pause the clock skips goes on to the pause of the next week', async () => {
    const text = 'Mon 00:00 - Sun 02:00, Sun 03:00 - Mon 00:00'
    expect(await lockAt(text, '2026-03-25T00:00:00Z', 'Europe/Berlin').status()).toMatchObject({
      since: new Date('2026-03-22T02:00:00Z'),
      until: new Date('2026-04-05T00:00:00Z'),
    })
  })
  test('without a window is never active, whatever the clock says', async () => {
    for (const at of ['1970-01-01T00:00:00Z', '9999-12-31T00:00:00Z']) {
      expect(await lockAt('', at).status()).toMatchObject({ active: false, nextWindow: null })
    }
  })
  test('is unknown while it cannot be read', async () => {
    const schedule = { windows: [], timeZone: 'UTC' }
    const lock = createDeployLock({ schedule, read: () => Promise.reject(new Error('refused')), periods })
    await expect(lock.status()).rejects.toThrow('refused')
    await expect(lock.isActive()).rejects.toThrow('refused')
  })
})

describe('the deploy lock set by a person (spec 2.4, 3)', () => {
  const byAda: StoredLock = {
    ...neverSet,
    isSet: true,
    since: new Date('2026-11-20T12:00:00Z'),
    reason: 'database failover',
    setBy: 'ada',
  }
  const statusAt = (at: string, stored: StoredLock) => lockAt('Fri 17:00 - Mon 08:00', at, 'UTC', stored).status()

  test('is active without an end, and says who and why', async () =>
    expect(await statusAt('2026-11-20T13:00:00Z', byAda)).toEqual({
      active: true,
      source: 'manual',
      since: byAda.since,
      until: null,
      reason: 'database failover',
      setBy: 'ada',
      retryAfterSeconds: undefined,
      nextWindow: weekend,
      overrideUntil: null,
    }))
  test('speaks also inside of a lockdown window', async () =>
    expect(await statusAt('2026-11-21T13:00:00Z', byAda)).toMatchObject({ source: 'manual', until: null }))
  test.for<[string, string, boolean, string | null]>([
    ['before its end', '2026-11-20T12:59:59.999Z', true, '2026-11-20T13:00:00Z'],
    ['at its end', '2026-11-20T13:00:00Z', false, null],
  ])('with an end, %s', async ([, at, active, until]) =>
    expect(await statusAt(at, { ...byAda, until: new Date('2026-11-20T13:00:00Z') })).toMatchObject({
      active,
      until: until && new Date(until),
      ...(active ? {} : { since: null, reason: null, setBy: null, nextWindow: weekend }),
    }),
  )
  test('whose end lies inside of a lockdown window lasts until the end of that', async () =>
    expect(await statusAt('2026-11-20T16:00:00Z', { ...byAda, until: new Date('2026-11-20T18:00:00Z') })).toMatchObject(
      { source: 'manual', until: weekend.to, retryAfterSeconds: 64 * 3600 },
    ))
})

describe('a lockdown window that somebody opened', () => {
  const opened: StoredLock = { ...neverSet, overrideUntil: new Date('2026-11-21T12:15:00Z') }
  const statusAt = (at: string, stored = opened) => lockAt('Fri 17:00 - Mon 08:00', at, 'UTC', stored).status()

  test('is open until the override ends, and its rest is the next window', async () =>
    expect(await statusAt('2026-11-21T12:14:59.999Z')).toMatchObject({
      active: false,
      nextWindow: { from: opened.overrideUntil, to: weekend.to },
    }))
  test('is closed from then on, as if it had never been open', async () =>
    expect(await statusAt('2026-11-21T12:15:00Z')).toMatchObject({ source: 'schedule', since: weekend.from }))
  test('is locked by hand at once', async () =>
    expect(await statusAt('2026-11-21T12:10:00Z', { ...opened, isSet: true })).toMatchObject({ source: 'manual' }))
  test('does not come back when it ends before the override does', async () => {
    const late: StoredLock = { ...neverSet, overrideUntil: new Date('2026-11-23T08:10:00Z') }
    expect(await statusAt('2026-11-23T07:59:00Z', late)).toMatchObject({ active: false, nextWindow: nextWeekend })
    expect(await statusAt('2026-11-23T08:05:00Z', late)).toMatchObject({ active: false, nextWindow: nextWeekend })
  })
})

describe('the closed times that the accepting transaction decides by', () => {
  const lock = lockAt('Fri 17:00 - Mon 08:00', '2026-11-20T17:00:00Z')
  test('reach a fortnight to both sides, however the hour', () => {
    for (const around of ['2026-11-20T00:00:00Z', '2026-11-20T23:59:59.999Z']) {
      const { known } = lock.calendarAround(new Date(around))
      expect(known.from.getTime()).toBeLessThanOrEqual(Date.parse('2026-11-06T00:00:00Z'))
      expect(known.to.getTime()).toBeGreaterThanOrEqual(Date.parse('2026-12-05T00:00:00Z'))
    }
  })
  test('move on with the days', () => {
    const later = lock.calendarAround(new Date('2027-06-01T12:00:00Z'))
    expect(evaluateDeployLock(new Date('2027-06-04T17:00:00Z'), later, neverSet).active).toBe(true)
    expect(lock.calendarAround(new Date('2026-11-20T17:00:00Z')).intervals).toContainEqual(weekend)
  })
  test.for(['2026-11-04T23:59:59.999Z', '2026-12-06T00:00:00Z'])('say nothing about %s, which is a failure', (at) => {
    const times = lock.calendarAround(new Date('2026-11-20T17:00:00Z'))
    expect(() => evaluateDeployLock(new Date(at), times, neverSet)).toThrow(DeployLockUnknownError)
    expect(() => evaluateDeployLock(new Date(at), times, neverSet)).toThrow('synchronize the clocks')
  })
})
