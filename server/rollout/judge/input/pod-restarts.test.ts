import { describe, expect, test } from 'vitest'
import { beforeCommit, judge, type Look, pod, succeeded, tree } from '../../../../test/support/judge-looks.ts'
import type { LivePod } from '../../observed/observed-resources.ts'

/** What one read of the tree shows: after how many seconds, the state of the Pod and its count of restarts. */
type Seen = readonly [seconds: number, state: string, restarts: number]

const look = ([seconds, state, restarts]: Seen, images: readonly string[], live?: LivePod): Look => {
  const info = [
    { name: 'Status Reason', value: state },
    { name: 'Restart Count', value: String(restarts) },
  ]
  const atMs = seconds * 1_000
  return {
    atMs,
    health: 'Progressing',
    images: ['registry.example/shop:v2'],
    operationState: succeeded,
    seen: {
      tree: tree([pod(state, { info, images, health: { status: 'Progressing' } })], atMs),
      livePods: new Map(live === undefined ? [] : [['p1', { askedAtMs: atMs, version: 10, value: live }]]),
    },
  }
}

const judged = (seen: readonly Seen[], images = ['registry.example/shop:v2'], live?: LivePod) =>
  judge([beforeCommit, ...seen.map((one) => look(one, images, live))])

describe('a Pod that restarts again and again', () => {
  test.for<{ readonly says: string; readonly seen: readonly Seen[]; readonly cause: string | undefined }>([
    {
      says: 'ends as a crash loop although most reads show it running',
      seen: [
        [15, 'Running', 0],
        [45, 'Running', 1],
        [75, 'Running', 2],
        [105, 'Error', 2],
        [135, 'Running', 3],
        [166, 'Running', 4],
      ],
      cause: 'crash_loop',
    },
    {
      says: 'keeps the grace that began with its first restart',
      seen: [
        [15, 'Running', 0],
        [45, 'Running', 1],
        [75, 'Running', 2],
        [105, 'Running', 3],
        [135, 'Running', 3],
        [164, 'Running', 4],
      ],
      cause: undefined,
    },
    {
      says: 'may crash three times and then run well',
      seen: [
        [15, 'CrashLoopBackOff', 1],
        [40, 'CrashLoopBackOff', 2],
        [80, 'Running', 3],
        [110, 'Running', 3],
        [141, 'Running', 3],
        [200, 'Running', 3],
      ],
      cause: undefined,
    },
    {
      says: 'may restart once, as long as it likes',
      seen: [
        [15, 'Running', 0],
        [45, 'Running', 1],
        [75, 'Running', 1],
        [400, 'Running', 1],
      ],
      cause: undefined,
    },
    {
      says: 'keeps its count through a long back-off',
      seen: [
        [15, 'CrashLoopBackOff', 2],
        [75, 'CrashLoopBackOff', 2],
        [120, 'Running', 3],
        [140, 'CrashLoopBackOff', 3],
      ],
      cause: 'crash_loop',
    },
  ])('$says', ({ seen, cause }) => expect(judged(seen).end?.cause).toBe(cause))

  const restarting: readonly Seen[] = [
    [15, 'Running', 0],
    [45, 'Running', 1],
    [75, 'Running', 2],
    [105, 'Running', 3],
    [135, 'Running', 4],
    [170, 'Running', 5],
  ]
  const withProxy = ['registry.example/shop:v2', 'registry.example/proxy:1']
  const container = (name: string, image: string, restarts: number) => ({
    name,
    image,
    isInit: false,
    restarts,
    lastTermination: undefined,
    memoryLimit: undefined,
  })
  const live = (ofShop: number, ofProxy: number): LivePod => ({
    containers: [
      container('web', 'registry.example/shop:v2', ofShop),
      container('proxy', 'registry.example/proxy:1', ofProxy),
    ],
  })

  test('asks once which of several containers restarts', () => {
    expect(judged(restarting.slice(0, 3), withProxy).actions).toContainEqual({
      kind: 'live_pod',
      namespace: '',
      name: 'shop-1',
      uid: 'p1',
    })
    expect(judged(restarting, withProxy).end).toBeUndefined()
  })

  test.for([
    { says: 'a requested image', pod: live(3, 0), cause: 'crash_loop' },
    { says: 'another image, which is no crash of the requested one', pod: live(0, 3), cause: undefined },
  ])('$says', ({ pod: known, cause }) => expect(judged(restarting, withProxy, known).end?.cause).toBe(cause))
})
