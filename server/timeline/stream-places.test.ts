import { expect, test } from 'vitest'
import { createStreamPlaces } from './stream-places.ts'

test('a client gets as many streams as it may have, and one more when it gives one back', () => {
  const places = createStreamPlaces(2)
  const first = places.take('ada')
  expect(places.take('ada')).toBeDefined()
  expect(places.take('ada')).toBeUndefined()
  expect(places.take('bob')).toBeDefined()
  first?.()
  expect(places.take('ada')).toBeDefined()
  expect(places.take('ada')).toBeUndefined()
})

test('clients that are not known share only what there is in all', () => {
  const places = createStreamPlaces(1, 3)
  const taken = [places.take(undefined), places.take(undefined), places.take('ada')]
  expect(taken).not.toContain(undefined)
  expect(places.take(undefined)).toBeUndefined()
  expect(places.take('bob')).toBeUndefined()
  taken[0]?.()
  expect(places.take('bob')).toBeDefined()
})
