import { expect, test } from 'vitest'
import { planRollback } from './plan-rollback.ts'

const shop = 'registry.example/shop'
const worker = 'registry.example/worker'
const bad = [{ image: shop, tag: '1.2.0' }]
const entry = (value = '1.2.0', image = shop, name = 'image.tag') => ({ name, value, image })
const deployed = (...images: readonly (readonly [image: string, tag: string])[]) =>
  new Map(images.map(([image, tag], at) => [image, { id: `task-${at}`, images: [{ image, tag }] }]))
const both = [
  { image: shop, tag: '1.2.0' },
  { image: worker, tag: '5' },
]

test.for<[string, Parameters<typeof planRollback>, ReturnType<typeof planRollback>]>([
  [
    'a tag',
    [bad, { entries: [entry()], replaced: { 'image.tag': '1.1.0' } }, deployed([shop, '1.1.0'])],
    { images: [{ image: shop, tag: '1.1.0' }], target: 'task-0' },
  ],
  [
    'an image with its tag',
    [
      bad,
      { entries: [entry(`${shop}:1.2.0`, shop, 'image')], replaced: { image: `${shop}:1.1.0` } },
      deployed([shop, '1.1.0']),
    ],
    { images: [{ image: shop, tag: '1.1.0' }], target: 'task-0' },
  ],
  [
    'two images of two deployments, of which one has the same version',
    [
      both,
      { entries: [entry(), entry('5', worker, 'worker.tag')], replaced: { 'image.tag': '1.1.0', 'worker.tag': '5' } },
      deployed([shop, '1.1.0'], [worker, '5']),
    ],
    {
      images: [
        { image: shop, tag: '1.1.0' },
        { image: worker, tag: '5' },
      ],
      target: 'task-1',
    },
  ],
  ['no commit', [bad, undefined, deployed([shop, '1.1.0'])], { refusal: 'it made no commit of its own' }],
  [
    'nothing deployed before',
    [bad, { entries: [entry()], replaced: { 'image.tag': '1.1.0' } }, new Map()],
    { refusal: `no version of ${shop} was deployed before` },
  ],
  [
    'a value that was never deployed',
    [bad, { entries: [entry()], replaced: { 'image.tag': '1.1.5' } }, deployed([shop, '1.1.0'])],
    { refusal: `its commit replaced another version of ${shop} than 1.1.0, which was deployed before` },
  ],
  [
    'a file that did not have the entry',
    [bad, { entries: [entry()], replaced: { 'image.tag': null } }, deployed([shop, '1.1.0'])],
    { refusal: `its commit replaced another version of ${shop} than 1.1.0, which was deployed before` },
  ],
  [
    'an image that is only watched',
    [both, { entries: [entry()], replaced: { 'image.tag': '1.1.0' } }, deployed([shop, '1.1.0'], [worker, '4'])],
    { refusal: `its commit did not set ${worker}` },
  ],
  [
    'the same version',
    [bad, { entries: [entry()], replaced: { 'image.tag': '1.2.0' } }, deployed([shop, '1.2.0'])],
    { refusal: 'its commit changed no version' },
  ],
])('%s', ([, given, expected]) => expect(planRollback(...given)).toEqual(expected))
