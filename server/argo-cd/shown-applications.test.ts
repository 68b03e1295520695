import { describe, expect, test } from 'vitest'
import { type ApplicationFields, anApplication } from '../../test/support/application-builder.ts'
import { createShownApplications } from './shown-applications.ts'

function aStore(limits?: { applications: number; bytes: number }) {
  let nowMs = 0
  const store = createShownApplications('argocd', () => nowMs, limits)
  return {
    ...store,
    at: (ms: number) => {
      nowMs = ms
    },
    shown: () => store.all().map(({ app, images, confirmedMs }) => ({ app, images: [...images], confirmedMs })),
  }
}

const named = (name: string, fields: ApplicationFields = {}) =>
  anApplication({ uid: `uid-${name}`, ...fields, metadata: { name, ...fields.metadata } })

describe('what Argo CD shows of an application', () => {
  test('has the name that tasks have', () => {
    const { see, names } = aStore()
    see(named('shop'))
    see(named('edge', { metadata: { namespace: 'team-a' } }))
    expect(names()).toEqual(['shop', 'team-a/edge'])
  })

  test('keeps since when an image has been seen, also through others, until it is gone', () => {
    const { see, at, shown } = aStore()
    const [one, two] = ['r/shop:v1', 'r/shop:v2']
    for (const [ms, images] of [
      [1, [one]],
      [2, [one, two]],
      [3, [two]],
      [4, [one, two, two]],
    ] as const) {
      at(ms)
      see(named('shop', { images }))
    }
    expect(shown()).toEqual([
      {
        app: 'shop',
        images: [
          [one, 4],
          [two, 2],
        ],
        confirmedMs: 4,
      },
    ])
  })

  test('an older state of the same application changes nothing, one of a new application of the name does', () => {
    const { see, at, shown } = aStore()
    see(named('shop', { version: 20, images: ['r/shop:v2'] }))
    at(5)
    see(named('shop', { version: 19, images: ['r/shop:v1'] }))
    expect(shown()).toEqual([{ app: 'shop', images: [['r/shop:v2', 0]], confirmedMs: 0 }])
    see(named('shop', { version: 3, uid: 'other', images: ['r/shop:v2'] }))
    expect(shown()).toEqual([{ app: 'shop', images: [['r/shop:v2', 5]], confirmedMs: 5 }])
  })
})

describe('an application leaves', () => {
  test('with its deletion, and comes back as new', () => {
    const { see, remove, at, count, shown } = aStore()
    see(named('shop'))
    remove(named('shop'))
    expect(count()).toBe(0)
    at(7)
    see(named('shop'))
    expect(shown()).toMatchObject([{ confirmedMs: 7, images: [['registry.example/shop:v2', 7]] }])
  })

  test('where a List does not have it, unless it was seen after the List was asked', () => {
    const { see, replace, at, names } = aStore()
    for (const name of ['gone', 'shop']) see(named(name))
    at(10)
    see(named('new'))
    replace([named('shop')], 5)
    expect(names()).toEqual(['new', 'shop'])
  })
})

describe('what has no room is left out, and said to be', () => {
  test('beyond the number of applications', () => {
    const { see, remove, replace, names, isTruncated } = aStore({ applications: 2, bytes: 100_000 })
    for (const name of ['a', 'b']) see(named(name))
    expect(isTruncated()).toBe(false)
    see(named('c'))
    expect([names(), isTruncated()]).toEqual([['a', 'b'], true])
    see(named('a', { version: 11 }))
    expect(names()).toEqual(['b', 'a'])
    remove(named('b'))
    see(named('c'))
    expect(names()).toEqual(['a', 'c'])
    replace([named('a'), named('c')], 0)
    expect(isTruncated()).toBe(false)
  })

  test('beyond the bytes: an application whose images have grown too long gives its room to others', () => {
    const { see, names, isTruncated } = aStore({ applications: 100, bytes: 3_000 })
    see(named('a'))
    see(named('b'))
    see(named('a', { version: 11, images: [`r/${'x'.repeat(1_200)}:v1`] }))
    expect([names(), isTruncated()]).toEqual([['b'], true])
    see(named('c'))
    expect(names()).toEqual(['b', 'c'])
  })
})

test('10,000 applications of three long image references fit', () => {
  const { see, count, isTruncated } = aStore()
  const images = ['a', 'b', 'c'].map(
    (name) => `registry.example.com/platform/${name.repeat(60)}:v1.2.3-${'f'.repeat(40)}`,
  )
  for (let index = 0; index < 10_000; index += 1) see(named(`team-${index}`, { images }))
  expect([count(), isTruncated()]).toEqual([10_000, false])
})
