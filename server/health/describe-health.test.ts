import { expect, test } from 'vitest'
import { describeController } from './describe-health.ts'

test('Argo CD is down only when the probe fails', () => {
  expect(describeController({ state: 'closed', why: '502' }, { why: 'connect ECONNREFUSED' })).toEqual({
    status: 'down',
    detail: 'connect ECONNREFUSED',
    stream: 'closed',
  })
})

test('Argo CD is degraded while only the stream is missing, however long', () => {
  expect(describeController({ state: 'refused', why: '403 permission denied' }, undefined)).toEqual({
    status: 'degraded',
    detail: '403 permission denied',
    stream: 'refused',
  })
})

test('Argo CD is up before the stream has ended for the first time', () => {
  expect(describeController({ state: 'connecting', why: undefined }, undefined)).toEqual({
    status: 'up',
    stream: 'connecting',
  })
})
