import { expect, test } from 'vitest'
import { permissionOf } from './permission.ts'

const user = { subject: '1', name: 'ada', groups: ['shop'], expires: 0 }
const session = { enabled: true, user, privileged: false, privileged_groups: ['platform'], read_auth: false }
const refused = (why: string, canSignIn: boolean) => ({ kind: 'refused', why, canSignIn })

test.for([
  ['without a provider', { ...session, enabled: false, user: null }, 'Needs IDP_ENABLED', false],
  ['signed out', { ...session, user: null }, 'You are not signed in', true],
  ['in other groups', session, 'Only members of platform may do this, and you are signed in as ada', false],
  [
    'in groups that were not confirmed',
    { ...session, privileged_groups: ['shop'] },
    'The identity provider did not confirm your groups',
    true,
  ],
] as const)('%s nobody may act, and the reason is said', ([, state, why, canSignIn]) => {
  expect(permissionOf({ ...state, privileged_groups: [...state.privileged_groups] })).toEqual(
    refused(expect.stringContaining(why) as string, canSignIn),
  )
})

test('a privileged user may act', () => {
  expect(permissionOf({ ...session, privileged: true })).toEqual({ kind: 'allowed' })
})
