import { describe, expect, test } from 'vitest'
import type { Pod } from '../../../contract/diagnosis.ts'
import { aDiagnosis, aTask } from './a-task.ts'
import { countMarks, runningImages } from './running-images.ts'

const image = 'registry.example/shop'
const aPod = (fields: Partial<Pod> = {}): Pod => ({
  namespace: 'shop',
  name: 'shop-1',
  image: `${image}:v2`,
  ready: false,
  state: 'Running',
  restarts: 0,
  ...fields,
})
const ofPods = (...pods: readonly Pod[]) =>
  runningImages(
    aTask({
      images: [{ image, tag: 'v2' }],
      diagnosis: aDiagnosis({
        pods: [...pods],
        culprit: { kind: 'Pod', namespace: 'shop', name: 'broken', message: 'back-off' },
      }),
    }),
  )

describe('requested against running', () => {
  test('the Pods of the requested version come first, what is not ready before what is', () => {
    const [row] = ofPods(
      aPod({ name: 'old', image: `${image}:v1`, ready: true }),
      aPod({ name: 'ready', ready: true }),
      aPod({ name: 'starting', state: 'ContainerCreating' }),
      aPod({ name: 'broken', state: 'CrashLoopBackOff' }),
      aPod({ name: 'hook', state: 'Completed' }),
    )
    expect(row?.pods.map(({ pod, mark }) => [pod.name, mark])).toEqual([
      ['broken', 'failing'],
      ['starting', 'starting'],
      ['ready', 'ready'],
      ['hook', 'finished'],
      ['old', 'old'],
    ])
    expect(row?.running).toEqual(['v2', 'v1'])
    expect(countMarks(row?.pods ?? [])).toBe('1 ready, 1 failing, 1 starting, 1 finished, 1 old')
  })
  test('a Pod whose image comes by a mirror counts, one of another image does not', () => {
    const [row] = ofPods(
      aPod({ name: 'mirrored', image: `mirror.example/${image}:v2` }),
      aPod({ name: 'other', image: 'registry.example/side:v2' }),
    )
    expect(row?.pods.map(({ pod }) => pod.name)).toEqual(['mirrored'])
  })
  test('of an ended task the evidence tells', () => {
    const evidence = [{ kind: 'images' as const, requested: [`${image}:v2`], found: [`${image}:v1`], applied: [] }]
    const task = aTask({ status: 'failed', images: [{ image, tag: 'v2' }], diagnosis: aDiagnosis({ evidence }) })
    expect(runningImages(task)).toEqual([{ image, requested: 'v2', running: ['v1'], pods: [] }])
  })
  test('nothing is claimed where nothing was read', () => {
    expect(runningImages(aTask())[0]?.running).toEqual([])
    expect(runningImages(aTask({ status: 'deployed' }))[0]?.running).toEqual(['v1.2.3'])
  })
})
