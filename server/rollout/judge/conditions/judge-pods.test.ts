import { describe, expect, test } from 'vitest'
import { beforeCommit, judge, type Look, pod, tree } from '../../../../test/support/judge-looks.ts'
import { eventsOf } from '../../../../test/support/resource-events.ts'

describe('Pods of a requested image that cannot start', () => {
  const progressing = { health: 'Progressing', images: ['registry.example/shop:v2'] }
  const looksWith = (pods: readonly object[], times: readonly number[]): readonly Look[] => [
    beforeCommit,
    ...times.map((atMs) => ({ ...progressing, atMs, seen: { tree: tree(pods, atMs) } })),
  ]

  test.for([
    { reason: 'ImagePullBackOff', cause: 'image_pull' },
    { reason: 'ErrImagePull', cause: 'image_pull' },
    { reason: 'Init:CrashLoopBackOff', cause: 'crash_loop' },
    { reason: 'CreateContainerConfigError', cause: 'container_config' },
  ])('$reason in every read for 120 s ends the task as $cause', ({ reason, cause }) => {
    expect(judge(looksWith([pod(reason)], [10_000, 60_000, 129_000])).end).toBeUndefined()
    expect(judge(looksWith([pod(reason)], [10_000, 60_000, 130_000])).end).toMatchObject({
      status: 'failed',
      cause,
      reason: expect.stringContaining('shop-1'),
    })
  })

  test.for([
    { uid: 'p1', headline: 'Image shop:v2 cannot be pulled: not found' },
    { uid: 'another', headline: 'Image of Pod shop-1 cannot be pulled: why' },
  ])(
    'the headline says why the image could not be pulled, as the events of this very Pod do (%s)',
    ({ uid, headline }) => {
      const lines = [
        'Failed: Failed to pull image "shop:v2": not found',
        'Failed: Error: ErrImagePull',
        'BackOff: it waits',
      ]
      const events = eventsOf(uid, lines)
      const looks = looksWith([pod('ImagePullBackOff')], [10_000, 130_000])
      const told = looks.map((look) => ({ ...look, seen: { ...look.seen, events } }))
      expect(judge(told).end?.diagnosis?.headline).toBe(headline)
    },
  )

  test('a read that was answered late does not shorten the grace: what it shows may be as young as the answer', () => {
    const slow = { ...progressing, atMs: 13_000, seen: { tree: tree([pod('CrashLoopBackOff')], 10_000) } }
    const at = (atMs: number) => looksWith([pod('CrashLoopBackOff')], [atMs]).slice(1)
    expect(judge([beforeCommit, slow, ...at(131_000)]).end).toBeUndefined()
    expect(judge([beforeCommit, slow, ...at(133_000)]).end).toMatchObject({ cause: 'crash_loop' })
  })

  test('an image name that is none ends it at once', () => {
    expect(judge(looksWith([pod('InvalidImageName')], [10_000])).end).toMatchObject({ cause: 'image_name' })
  })

  test.for([
    { name: 'one read', pods: [pod('ImagePullBackOff')], times: [200_000], settings: {} },
    {
      name: 'an early end switched off',
      pods: [pod('ImagePullBackOff')],
      times: [10_000, 300_000],
      settings: { badPodGraceMs: 0 },
    },
    {
      name: 'another image',
      pods: [pod('ImagePullBackOff', { images: ['registry.example/shop:v1'] })],
      times: [10_000, 300_000],
      settings: {},
    },
    {
      name: 'a newer Pod that is ready',
      pods: [pod('ImagePullBackOff'), pod('Running', { uid: 'p2', createdAt: '2026-11-21T15:01:00Z' })],
      times: [10_000, 300_000],
      settings: {},
    },
  ])('$name does not end it', ({ pods, times, settings: changed }) => {
    expect(judge(looksWith(pods, times), { settings: changed }).end).toBeUndefined()
  })

  test('a read that shows it well in between starts the grace anew', () => {
    const [start, ...bad] = looksWith([pod('CrashLoopBackOff')], [10_000, 140_000])
    const well = { ...progressing, atMs: 60_000, seen: { tree: tree([pod('Running')], 60_000) } }
    expect(judge([start ?? beforeCommit, bad[0] ?? beforeCommit, well, bad[1] ?? beforeCommit]).end).toBeUndefined()
  })

  test('the Pods are looked at once a rollout takes 15 s', () => {
    const looks = [beforeCommit, { ...progressing, atMs: 1_000 }]
    expect(judge(looks)).toMatchObject({ againAtMs: 16_000 })
    expect(judge([...looks, { ...progressing, atMs: 16_000 }]).actions).toContainEqual({
      kind: 'tree',
      priority: 'low',
    })
  })
})

describe('a Pod that runs but is never ready', () => {
  const unready = pod('Running', { health: { status: 'Progressing' } })
  const events = eventsOf('p1', ['Unhealthy: Readiness probe failed: 503'])
  const lookAt = (atMs: number, health: string): Look => ({
    atMs,
    health,
    seen: { tree: tree([unready], atMs), events },
  })
  const cause = 'probe_failing'
  const reason = expect.stringContaining('is not ready: readiness probe fails: 503')

  test('is named at the deadline, if more than one read saw it so', () => {
    const looks = [beforeCommit, lookAt(600_000, 'Progressing'), lookAt(900_000, 'Progressing')]
    expect(judge(looks).end).toMatchObject({ status: 'failed', cause, reason })
    expect(judge([beforeCommit, lookAt(900_000, 'Progressing')]).end?.cause).toBe('timeout')
  })

  test('is named once the application has been Degraded for its grace', () => {
    const looks = [beforeCommit, lookAt(1_000, 'Degraded'), lookAt(61_000, 'Degraded')]
    expect(judge(looks).end).toMatchObject({ status: 'failed', cause, reason })
  })

  test('ends nothing early: it may only be slow', () => {
    const looks = [beforeCommit, lookAt(1_000, 'Progressing'), lookAt(400_000, 'Progressing')]
    expect(judge(looks).end).toBeUndefined()
  })
})
