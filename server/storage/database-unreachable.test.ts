import { expect, test } from 'vitest'
import { isDatabaseUnreachable } from './database-unreachable.ts'

const withCode = (code: string) => Object.assign(new Error('failed'), { code })

test.for([
  withCode('ECONNREFUSED'),
  withCode('SELF_SIGNED_CERT_IN_CHAIN'),
  withCode('DEPTH_ZERO_SELF_SIGNED_CERT'),
  withCode('CERT_HAS_EXPIRED'),
  withCode('ERR_TLS_CERT_ALTNAME_INVALID'),
  withCode('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
  withCode('57P01'),
  withCode('57P03'),
  withCode('53300'),
  withCode('08006'),
  withCode('25006'),
  withCode('25P03'),
  withCode('55P03'),
  new AggregateError([withCode('ECONNREFUSED')]),
  new Error('Connection terminated unexpectedly'),
  new Error('Connection terminated due to connection timeout'),
  new Error('timeout exceeded when trying to connect'),
  new Error('Query read timeout'),
])('unreachable: %s', (error) => expect(isDatabaseUnreachable(error)).toBe(true))

test.for([
  withCode('23505'),
  withCode('42P01'),
  withCode('57014'),
  withCode('FST_ERR_VALIDATION'),
  new Error('anything'),
  'text',
  null,
])('reachable: %s', (error) => expect(isDatabaseUnreachable(error)).toBe(false))
