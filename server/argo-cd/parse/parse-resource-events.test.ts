import { expect, test } from 'vitest'
import { parseResourceEvents } from './parse-resource-events.ts'

test('events come in the order of their last time, in the older and the newer form', () => {
  const items = [
    {
      reason: 'BackOff',
      message: 'Back-off restarting',
      count: 5,
      lastTimestamp: '2026-11-27T18:50:01Z',
      involvedObject: { fieldPath: 'spec.initContainers{migrate}' },
    },
    {
      reason: 'FailedScheduling',
      message: '0/1 nodes',
      eventTime: '2026-11-27T18:47:10.177487Z',
      series: { count: 2, lastObservedTime: '2026-11-27T18:47:21.706961Z' },
    },
    { reason: 'Scheduled', message: 'assigned', eventTime: '2026-11-27T18:47:05.288681Z', count: null, series: null },
    { message: 'without a reason' },
  ]
  expect(parseResourceEvents({ items })).toEqual([
    {
      reason: 'Scheduled',
      message: 'assigned',
      count: 1,
      lastMs: Date.parse('2026-11-27T18:47:05.288Z'),
      container: undefined,
    },
    {
      reason: 'FailedScheduling',
      message: '0/1 nodes',
      count: 2,
      lastMs: Date.parse('2026-11-27T18:47:21.706Z'),
      container: undefined,
    },
    {
      reason: 'BackOff',
      message: 'Back-off restarting',
      count: 5,
      lastMs: Date.parse('2026-11-27T18:50:01Z'),
      container: 'migrate',
    },
  ])
})

test.for([{ items: null }, {}, null])('%j holds no events', (body) => expect(parseResourceEvents(body)).toEqual([]))
