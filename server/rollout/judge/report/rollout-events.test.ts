import { describe, expect, test } from 'vitest'
import { Diagnosis } from '../../../../contract/diagnosis.ts'
import type { ApplicationFields } from '../../../../test/support/application-builder.ts'
import { beforeCommit, judge, type Look, pod, tree } from '../../../../test/support/judge-looks.ts'
import { toStoredJson } from '../../../storage/stored-json.ts'

const shop = (tag: string) => `registry.example/shop:${tag}`
const waiting: ApplicationFields = { health: 'Progressing', images: [shop('v1')] }
const bad = (atMs: number, name = 'shop-1', message = 'why') =>
  tree([pod('ImagePullBackOff', { name, uid: name, health: { status: 'Degraded', message } })], atMs)
const stuck = (atMs: number, name?: string, message?: string): Look => ({
  ...waiting,
  atMs,
  images: [shop('v1'), shop('v2')],
  seen: { tree: bad(atMs, name, message) },
})

/** What the last look adds to the timeline, and the diagnosis that it stores. */
function lastChanges(looks: readonly Look[]) {
  const { events, diagnosis } = judge([beforeCommit, ...looks])
  return { events, waitingFor: events.filter(({ kind }) => kind === 'waiting_for'), diagnosis }
}

describe('what Argo CD shows', () => {
  test('is one event when the application is first seen', () => {
    const { events } = judge([beforeCommit])
    expect(events).toEqual([
      {
        kind: 'application_confirmed',
        detail: expect.stringMatching(/^application argocd\/shop: sync Synced at .{7}; health Healthy; images /),
        data: expect.objectContaining({ application: 'argocd/shop', sync: 'Synced', health: 'Healthy' }),
      },
    ])
  })

  test('is one event where it changed at one time, named after the first of its parts', () => {
    const { events } = lastChanges([
      { ...waiting, atMs: 1_000 },
      { ...waiting, atMs: 2_000, sync: 'OutOfSync', health: 'Missing' },
    ])
    expect(events).toEqual([
      {
        kind: 'sync_changed',
        detail: expect.stringMatching(/^OutOfSync at .{7}; health Missing$/),
        data: { sync: 'OutOfSync', revisions: [expect.any(String)], health: 'Missing' },
      },
    ])
  })
})

describe('an event says that', () => {
  test('another condition is not met, which no status of the application says', () => {
    const synced = (finishedAt: string) => ({
      reconciledAt: '2026-11-21T15:00:00Z',
      operationState: { phase: 'Succeeded', startedAt: '2026-11-21T14:59:00Z', finishedAt },
    })
    const { events } = lastChanges([
      { ...waiting, atMs: 1_000, ...synced('2026-11-21T14:59:30Z') },
      { ...waiting, atMs: 2_000, ...synced('2026-11-21T15:00:30Z') },
    ])
    expect(events).toEqual([
      {
        kind: 'waiting_for',
        detail: 'condition not met: compared after operation: expected a later comparison',
        data: { condition: 'compared_after_operation' },
      },
    ])
  })

  test('something else holds the task up', () => {
    const stalled = { ...waiting, atMs: 2_000, health: 'Suspended' }
    expect(lastChanges([{ ...waiting, atMs: 1_000 }, stalled]).waitingFor).toEqual([
      {
        kind: 'waiting_for',
        detail: 'Deployment shop is Suspended',
        data: { cause: 'suspended', condition: 'healthy' },
      },
    ])
  })

  test('another resource is to blame', () => {
    const looks = [stuck(1_000), stuck(20_000), stuck(40_000, 'shop-2')]
    const ofPod = (name: string) => [expect.objectContaining({ detail: expect.stringContaining(`Pod ${name}`) })]
    expect(lastChanges([...looks.slice(0, 2)]).waitingFor).toEqual(ofPod('shop-1'))
    expect(lastChanges([...looks, stuck(60_000, 'shop-2')]).waitingFor).toEqual(ofPod('shop-2'))
  })
})

describe('no event, but the stored diagnosis follows, when', () => {
  test('the state of a condition changes that is not the first', () => {
    const stalled = { ...waiting, atMs: 2_000, health: 'Suspended', images: [shop('v2')] }
    const { waitingFor, diagnosis } = lastChanges([
      { ...waiting, atMs: 1_000 },
      stalled,
      { ...stalled, atMs: 3_000, images: [shop('v1')] },
    ])
    expect(waitingFor).toEqual([])
    expect(diagnosis?.conditions).toContainEqual(expect.objectContaining({ name: 'images', state: 'not_met' }))
  })

  test('another value is found', () => {
    const { waitingFor, diagnosis } = lastChanges([
      { ...waiting, atMs: 1_000 },
      { ...waiting, atMs: 2_000, health: 'Missing' },
    ])
    expect(waitingFor).toEqual([])
    expect(diagnosis?.conditions).toContainEqual(expect.objectContaining({ name: 'healthy', found: 'Missing' }))
  })

  test('other Pods were read', () => {
    const other = { ...waiting, atMs: 2_000, seen: { tree: tree([pod('Running')], 1_500) } }
    const { waitingFor, diagnosis } = lastChanges([{ ...waiting, atMs: 1_000 }, other])
    expect(waitingFor).toEqual([])
    expect(diagnosis?.pods).toMatchObject([{ name: 'shop-1', ready: true, state: 'Running', restarts: 0 }])
    expect(lastChanges([{ ...waiting, atMs: 1_000 }, other, { ...other, atMs: 3_000 }]).diagnosis).toBeUndefined()
  })

  test('the message of the same culprit changes', () => {
    const { waitingFor, diagnosis } = lastChanges([stuck(1_000), stuck(20_000), stuck(40_000, 'shop-1', 'not found')])
    expect(waitingFor).toEqual([])
    expect(diagnosis?.culprit?.message).toContain('not found')
  })
})

test('neither event nor diagnosis when only evidence changes', () => {
  const resources = [{ kind: 'ConfigMap', name: 'other', status: 'Synced', health: { status: 'Missing' } }]
  const other = { ...waiting, atMs: 2_000, status: { resources } }
  expect(lastChanges([{ ...waiting, atMs: 1_000 }, other])).toMatchObject({ events: [], diagnosis: undefined })
})

test('the Pods of a diagnosis are 20, and 8 KiB, at most', () => {
  const podsOf = (count: number, name: string) => {
    const pods = Array.from({ length: count }, (_, at) => ({ ...pod('Running'), uid: `${at}`, name: `${name}${at}` }))
    const other = { ...waiting, atMs: 2_000, seen: { tree: tree(pods, 1_500) } }
    return lastChanges([{ ...waiting, atMs: 1_000 }, other]).diagnosis?.pods ?? []
  }
  expect(podsOf(500, 'shop-')).toHaveLength(20)
  const long = podsOf(500, '漢'.repeat(5_000))
  expect(long.length).toBeGreaterThan(0)
  expect(Buffer.byteLength(JSON.stringify(long))).toBeLessThanOrEqual(8_192 + 20)
})

test('a diagnosis has at most 64 KiB as it is stored, whatever Argo CD sends', () => {
  const hostile = `\0\ud83d${'"\u2028'.repeat(400)}`
  const many = <Of>(count: number, make: (at: number) => Of) => Array.from({ length: count }, (_, at) => make(at))
  const images = many(50, (at) => ({ image: `registry.example/${'i'.repeat(230)}${at}`, tag: 't'.repeat(255) }))
  const resources = many(10_000, (at) => ({
    kind: 'Deployment',
    name: `${at}${hostile}`,
    status: 'OutOfSync',
    health: { status: 'Degraded', message: hostile },
  }))
  const looks = [30_000, 900_000].map((atMs) => ({
    atMs,
    sync: 'OutOfSync',
    health: 'Degraded',
    images: many(500, (at) => `${hostile}:${at}`),
    status: { resources, conditions: many(100, () => ({ type: 'SyncError', message: hostile })) },
    operationState: { phase: 'Failed', message: hostile, startedAt: '2026-11-21T15:00:05Z', finishedAt: hostile },
  }))
  const { diagnosis } = judge([beforeCommit, ...looks], { task: { images } }).end ?? {}
  const stored = toStoredJson(diagnosis)
  expect(Diagnosis.parse(JSON.parse(stored)).conditions).toHaveLength(9)
  expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(65_536)
  expect(stored).not.toContain('\\u0000')
})
