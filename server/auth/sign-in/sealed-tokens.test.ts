import { expect, test } from 'vitest'
import { openTokens, sealTokens } from './sealed-tokens.ts'

const tokens = { accessToken: 'access', refreshToken: undefined, idToken: 'eyJ…' }

test('tokens are read with the id they were sealed for, and with no other', () => {
  const sealed = sealTokens(tokens, 'id')
  expect(openTokens(sealed, 'id')).toEqual(tokens)
  expect(() => openTokens(sealed, 'ie')).toThrow()
  expect(sealed.toString('latin1')).not.toContain('access')
  expect(sealTokens(tokens, 'id')).not.toEqual(sealed)
})

test('a changed byte is noticed wherever it is', () => {
  const sealed = sealTokens(tokens, 'id')
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    expect(() => openTokens(changed, 'id')).toThrow()
  }
})
