import { describe, expect, test } from 'vitest'
import { userOfClaims } from './user-of-claims.ts'

describe('a user, as the provider describes him', () => {
  test.for<[string, Record<string, unknown>, string]>([
    ['the preferred name', { preferred_username: 'ada', name: 'Ada L', email: 'ada@example' }, 'ada'],
    ['the name', { name: 'Ada L', email: 'ada@example' }, 'Ada L'],
    ['the address', { email: 'ada@example' }, 'ada@example'],
    ['the subject, for want of others', {}, 'f3a9'],
    ['one line of it', { preferred_username: ' ada\r\nVia: evil\t' }, 'ada Via: evil'],
    ['the next one where it is blank', { preferred_username: ' ', name: 'Ada' }, 'Ada'],
    ['the next one where it is no text', { preferred_username: ['ada'], name: 'Ada' }, 'Ada'],
    ['255 characters of it', { name: 'a'.repeat(300) }, 'a'.repeat(255)],
    ['well-formed characters of it', { name: `${'a'.repeat(254)}😀` }, `${'a'.repeat(254)}\ufffd`],
  ])('is called by %s', ([, claims, name]) => expect(userOfClaims('f3a9', claims).name).toBe(name))

  test.for<[string, unknown, string[]]>([
    ['a list', ['platform', '/teams/shop'], ['platform', '/teams/shop']],
    ['one text', 'platform', []],
    ['a text of several', 'platform,on-call', []],
    ['a list with something else', ['platform', 1], []],
    ['an object', { platform: true }, []],
    ['nothing', undefined, []],
  ])('has the groups of %s', ([, groups, expected]) =>
    expect(userOfClaims('f3a9', { groups }).groups).toEqual(expected),
  )

  test('is read from the first source that says something', () =>
    expect(userOfClaims('f3a9', { name: 'new' }, { name: 'old', groups: ['platform'] })).toEqual({
      subject: 'f3a9',
      name: 'new',
      groups: ['platform'],
    }))

  test('who lost all groups has none, whatever was known', () =>
    expect(userOfClaims('f3a9', { groups: [] }, { groups: ['platform'] }).groups).toEqual([]))
})
