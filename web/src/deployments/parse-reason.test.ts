import { describe, expect, test } from 'vitest'
import { parseReason } from './parse-reason.ts'

describe('a status reason', () => {
  test('puts the culprit before the chronicle', () => {
    const text = [
      'timed out waiting for H: health status Healthy, not Progressing [crash_loop]',
      'Waited for (gate H): health status Healthy, not Progressing',
      'Waited for (gate I): image shop:v2 to run',
      'Operation: Succeeded: successfully synced',
      'Unhealthy: Deployment shop: Progressing: 0 of 2 ready',
      'Pod shop-7d9c (shop:v2): CrashLoopBackOff: back-off 40s',
      'Running images: shop:v1',
      'What to do: Read the log of the container.',
    ].join('\n')
    expect(parseReason(text, 'crash_loop')).toEqual({
      first: 'timed out waiting for H: health status Healthy, not Progressing',
      evidence: [
        { name: 'Pod', value: 'shop-7d9c (shop:v2): CrashLoopBackOff: back-off 40s' },
        { name: 'Unhealthy', value: 'Deployment shop: Progressing: 0 of 2 ready' },
        { name: 'Waited for', value: 'health status Healthy, not Progressing' },
        { name: 'Waited for', value: 'image shop:v2 to run' },
        { name: 'Operation', value: 'Succeeded: successfully synced' },
        { name: 'Running images', value: 'shop:v1' },
      ],
      todo: 'Read the log of the container.',
      closedGates: ['H', 'I'],
    })
  })

  test('shows beside each Pod the last event that says more', () => {
    const text = [
      'the rollout cannot succeed [image_pull]',
      'Waited for (gate H): health status Healthy, not Progressing',
      'Pod payments-64fc7b8c5-x2x9q (payments:v2): ImagePullBackOff: Back-off pulling image "payments:v2"',
      'Event of payments-64fc7b8c5-x2x9q: Scheduled: Successfully assigned default/payments-64fc7b8c5-x2x9q to node-1',
      'Event of payments-64fc7b8c5-x2x9q: Failed: Error: ErrImagePull',
      'Event of payments-64fc7b8c5-x2x9q: BackOff: Back-off pulling image "payments:v2"',
      'Pod payments-64fc7b8c5-9w2xk (payments:v2): ErrImagePull: not found',
    ].join('\n')
    expect(parseReason(text, 'image_pull').evidence).toEqual([
      {
        name: 'Pod',
        value: 'payments-64fc7b8c5-x2x9q (payments:v2): ImagePullBackOff: Back-off pulling image "payments:v2"',
      },
      { name: 'Last event', value: 'Failed: Error: ErrImagePull' },
      { name: 'Pod', value: 'payments-64fc7b8c5-9w2xk (payments:v2): ErrImagePull: not found' },
      { name: 'Waited for', value: 'health status Healthy, not Progressing' },
    ])
  })

  test('is kept word for word where a line has no name', () => {
    expect(parseReason('It broke\n\n  http://odd: really\nlower: case', undefined)).toEqual({
      first: 'It broke',
      evidence: [
        { name: 'Seen', value: 'http://odd: really' },
        { name: 'Seen', value: 'lower: case' },
      ],
      todo: undefined,
      closedGates: [],
    })
  })

  test('may be missing', () => {
    expect(parseReason(undefined, 'timeout')).toEqual({
      first: undefined,
      evidence: [],
      todo: undefined,
      closedGates: [],
    })
  })
})
