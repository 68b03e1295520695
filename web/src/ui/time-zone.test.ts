import { expect, test } from 'vitest'
import { shownZone } from './time-zone.ts'

test.for([
  ['', 'utc', 'UTC'],
  ['', 'local', 'Europe/Stockholm'],
  ['', 'Asia/Kolkata', 'Asia/Kolkata'],
  ['', 'Mars/Olympus', 'UTC'],
  ['America/New_York', 'local', 'America/New_York'],
  ['America/New_York', 'utc', 'America/New_York'],
  ['Mars/Olympus', 'local', 'Europe/Stockholm'],
  ['+02:00', 'utc', 'UTC'],
] as const)('an address that asks for "%s" and the setting %s show %s in Stockholm', ([asked, setting, zone]) => {
  expect(shownZone(asked, setting, 'Europe/Stockholm')).toBe(zone)
})
