import { expect, test } from 'vitest'
import type { SessionState } from '../../../contract/auth.ts'
import { permissionOf } from './permission.ts'

const user = { subject: '1', name: 'ada', groups: ['shop'], expires: 0 }
const state: SessionState = { enabled: true, user, privileged: true, privileged_groups: ['oncall'], read_auth: false }

test.for([
  { session: undefined, expected: { kind: 'unknown' } },
  { session: undefined, error: new Error('no answer'), expected: { kind: 'unread' } },
  { session: state, error: new Error('no answer'), expected: { kind: 'allowed' } },
  { session: { ...state, enabled: false }, expected: { kind: 'no_provider' } },
  { session: { ...state, user: null, privileged: false }, expected: { kind: 'signed_out' } },
  { session: { ...state, privileged: false, privileged_groups: ['shop'] }, expected: { kind: 'unconfirmed' } },
  {
    session: { ...state, privileged: false },
    expected: { kind: 'not_in_groups', groups: ['shop'], privilegedGroups: ['oncall'] },
  },
])('the reader is $expected.kind', ({ session, error = null, expected }) =>
  expect(permissionOf({ data: session, error })).toEqual(expected),
)
