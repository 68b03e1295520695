import { expect, test } from 'vitest'
import { tokenState } from './token-state.ts'

const day = 86_400
test.for([
  [91.5 * day, null, 'good', 'in 91 days'],
  [13 * day, null, 'soon', 'in 13 days'],
  [1.5 * day, null, 'soon', 'in 1 d 12 h'],
  [0, null, 'expired', 'Expired'],
  [91 * day, -5, 'revoked', 'Revoked'],
] as const)('a token that expires %d s from now, revoked %s, is %s', ([after, revoked, kind, words]) => {
  const now = 1_000_000
  const { words: said, ...state } = tokenState({ expires: now + after, revoked }, now)
  expect({ ...state, words: said.replaceAll('\u00a0', ' ') }).toEqual({ kind, words })
})
