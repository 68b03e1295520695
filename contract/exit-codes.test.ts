import { expect, test } from 'vitest'
import { exitCodes } from './exit-codes.ts'

test('each exit code is of its own, and none is one of a shell or of timeout', () => {
  const codes: readonly number[] = Object.values(exitCodes)
  expect(new Set(codes).size).toBe(codes.length)
  expect(codes.filter((code) => code < 0 || code > 255 || (code >= 124 && code <= 128))).toEqual([])
})
