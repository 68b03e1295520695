import { expect, test } from 'vitest'
import { changeText, versionChange } from './version-change.ts'

const images = (tags: Readonly<Record<string, string>>) =>
  Object.entries(tags).map(([name, tag]) => ({ image: `registry.example/${name}`, tag }))

test.for([
  ['one image', { shop: 'v1' }, { shop: 'v2' }, 'v1 → v2'],
  ['the same version again', { shop: 'v2' }, { shop: 'v2' }, 'v2'],
  ['a first deployment', undefined, { shop: 'v2' }, 'v2'],
  ['an image that was not there before', { cart: 'v1' }, { shop: 'v2' }, 'v2'],
  ['several images of one version', { shop: 'v1', cart: 'v1' }, { shop: 'v2', cart: 'v2' }, 'v1 → v2, 2 images'],
  ['several versions before', { shop: 'v1', cart: 'v0' }, { shop: 'v2', cart: 'v2' }, 'v2, 2 images'],
  ['some of several images', { shop: 'v1', cart: 'v7' }, { shop: 'v2', cart: 'v7' }, '1 of 2 changed'],
  ['several tags without a version before', undefined, { shop: 'v2', cart: 'v7' }, 'v2, and 1 more image'],
] as const)('of %s', ([, before, after, text]) => {
  expect(changeText(versionChange(before === undefined ? undefined : images(before), images(after)))).toBe(text)
})
