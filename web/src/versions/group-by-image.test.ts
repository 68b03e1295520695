import { expect, test } from 'vitest'
import { firstRows, groupByImage, versionsSentence } from './group-by-image.ts'

const version = (image: string, tag: string, drift = false) => ({ image, tag, drift })
const apps = [
  { app: 'cart', confirmed: 1, images: [version('r/shop', 'v1'), { ...version('r/zoo', '8'), task_id: '019a' }] },
  { app: 'shop', confirmed: 1, images: [version('r/shop', 'v1'), version('r/shop', 'v2', true)] },
]
const byOthers = { app: 'cart', confirmed: 1, images: [version('a/sidecar', '1')] }
const rows = (groups: ReturnType<typeof groupByImage>) =>
  groups.map(({ image, versions }) => `${image}: ${versions.map(({ app, tag }) => `${app} ${tag}`).join(', ')}`)

test('an image has a line for each application and version; drift comes first, images of others last', () => {
  expect(rows(groupByImage([byOthers, ...apps]))).toEqual([
    'r/shop: cart v1, shop v1, shop v2',
    'r/zoo: cart 8',
    'a/sidecar: cart 1',
  ])
})

test.for([
  [1, ['r/shop: cart v1']],
  [3, ['r/shop: cart v1, shop v1, shop v2']],
  [9, ['r/shop: cart v1, shop v1, shop v2', 'r/zoo: cart 8']],
] as const)('the first %i rows', ([count, first]) => {
  expect(rows(firstRows(groupByImage(apps), count))).toEqual(first)
})

test.for([
  { shown: apps, sentence: '2 images in 2 applications. 1 drifts.' },
  { shown: apps.slice(0, 1), sentence: '2 images in 1 application. None drifts.' },
  {
    shown: [{ app: 'a', confirmed: 1, images: [version('i', '1', true), version('i', '2', true)] }],
    sentence: '1 image in 1 application. 2 drift.',
  },
])('$sentence', ({ shown, sentence }) => expect(versionsSentence(groupByImage(shown))).toBe(sentence))
