import { describe, expect, test } from 'vitest'
import { goDuration, kitchenTime, retryDelay } from './sync-operation.ts'
import { blocksAutomatedSync, blocksManualSync, type SyncWindow } from './sync-window.ts'

const operation = { sync: {}, initiatedBy: {}, retry: {} }

test('the default retries wait 10, 20, 40, 80 and 160 s', () => {
  expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(operation, attempt, 5_000))).toEqual([
    10_000, 20_000, 40_000, 80_000, 160_000,
  ])
})

test('a retry waits three minutes at most, or what the application says', () => {
  expect(retryDelay(operation, 9, 5_000)).toBe(180_000)
  expect(
    retryDelay({ ...operation, retry: { backoff: { duration: '2s', factor: 3, maxDuration: '1m' } } }, 2, 5_000),
  ).toBe(18_000)
})

test.for([
  { text: '2s', ms: 2_000 },
  { text: '1m30s', ms: 90_000 },
  { text: '250ms', ms: 250 },
  { text: 'soon', ms: undefined },
])('the Go duration $text is $ms ms', ({ text, ms }) => expect(goDuration(text)).toBe(ms))

test.for([
  { at: '00:05', shown: '12:05AM' },
  { at: '14:58', shown: '2:58PM' },
  { at: '12:00', shown: '12:00PM' },
])('$at is written $shown', ({ at, shown }) => expect(kitchenTime(Date.parse(`2026-01-01T${at}:00Z`))).toBe(shown))

describe('sync windows', () => {
  const window = (kind: SyncWindow['kind'], isActive: boolean, manualSync = false): SyncWindow => ({
    kind,
    isActive,
    manualSync,
    schedule: '* * * * *',
    duration: '1h',
  })
  test.for([
    { name: 'none', windows: [], automated: false, manual: false },
    { name: 'an open deny', windows: [window('deny', true)], automated: true, manual: true },
    {
      name: 'an open deny that lets people through',
      windows: [window('deny', true, true)],
      automated: true,
      manual: false,
    },
    { name: 'a closed deny', windows: [window('deny', false)], automated: false, manual: false },
    { name: 'a closed allow', windows: [window('allow', false)], automated: true, manual: true },
    { name: 'an open allow', windows: [window('allow', true)], automated: false, manual: false },
  ])('$name', ({ windows, automated, manual }) => {
    expect({ automated: blocksAutomatedSync(windows), manual: blocksManualSync(windows) }).toEqual({
      automated,
      manual,
    })
  })
})
