import { expect, test } from 'vitest'
import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import { timeIn } from '../ui/zoned-time.ts'
import { layOutWeek } from './lay-out-week.ts'
import { dayWords, lockHeadline, lockOrigin, lockSentence, noteWords } from './lock-words.ts'

const seconds = (iso: string) => Date.parse(iso) / 1000
const now = seconds('2026-11-19T14:32Z')
const open: DeployLockDetails = {
  active: false,
  source: null,
  since: null,
  until: null,
  reason: null,
  set_by: null,
  next_window: null,
  override_until: null,
  schedule: { windows: [], time_zone: 'UTC' },
}
const locked: DeployLockDetails = { ...open, active: true, source: 'manual', since: now - 360, set_by: 'ada' }

test.for([
  { lock: open, headline: 'Open', origin: 'No lockdown window is ahead.' },
  {
    lock: { ...open, next_window: { from: now + 600, to: now + 1_200 } },
    headline: 'Open',
    origin: 'Next lockdown window: 14:42 to 14:52.',
  },
  { lock: { ...open, override_until: now + 900 }, headline: 'Open', origin: 'inside a lockdown window, until 14:47' },
  { lock: locked, headline: 'Locked until released', origin: 'by ada since 14:26' },
  { lock: { ...locked, until: now + 60 }, headline: 'Locked until 14:33', origin: 'by ada since 14:26' },
  {
    lock: { ...locked, source: 'schedule' as const, set_by: null, until: now + 60 },
    headline: 'Locked until 14:33',
    origin: 'by schedule since 14:26',
  },
])('the lock is described as "$headline", "$origin"', ({ lock, headline, origin }) => {
  const time = (at: number) => timeIn(at, now, 'UTC')
  expect([lockHeadline(lock, time), lockOrigin(lock, time)]).toEqual([headline, origin])
})

test.for([
  [locked, 'Deployments are locked by ada.'],
  [
    { ...locked, until: now + 60, reason: 'Moving the database' },
    'Deployments are locked until 14:33 by ada: Moving the database.',
  ],
  [
    { ...locked, source: 'schedule' as const, set_by: null, until: now + 60 },
    'Deployments are locked until 14:33 by schedule.',
  ],
] as const)('the banner of %j says "%s"', ([lock, words]) => {
  expect(lockSentence(lock, (at) => timeIn(at, now, 'UTC'))).toBe(words)
})

test.for([
  ['Moving the database (until 2026-11-19T18:18:16.000Z)', 'Moving the database (until 18:18)'],
  ['the lockdown window is open until 2026-11-19T15:00:00Z', 'the lockdown window is open until 15:00'],
  ['OPS-2214 (until released)', 'OPS-2214 (until released)'],
] as const)('the note "%s" reads "%s"', ([note, words]) => {
  expect(noteWords(note, (at) => timeIn(at, now, 'UTC'))).toBe(words)
})

test('each day of a week says what happens on it, at the times that its clock shows', () => {
  const none = { reason: null, set_by: null }
  const week = layOutWeek(now, 'Europe/Stockholm', [
    { kind: 'scheduled', from: seconds('2026-11-13T17:00Z'), to: seconds('2026-11-16T06:00Z'), ...none },
    { kind: 'manual', from: seconds('2026-11-17T12:10Z'), to: seconds('2026-11-17T13:25Z'), ...none },
    { kind: 'scheduled', from: seconds('2026-11-20T17:00Z'), to: seconds('2026-11-23T06:00Z'), ...none },
    { kind: 'opened', from: seconds('2026-11-21T12:00Z'), to: seconds('2026-11-21T12:15Z'), ...none },
  ])
  expect(week.map((day) => dayWords(day, 'Europe/Stockholm'))).toEqual([
    'locked until 07:00',
    'locked manually 13:10 to 14:25',
    'open',
    'open',
    'locks at 18:00',
    'locked all day; opened 13:00 to 13:15',
    'locked all day',
  ])
})
