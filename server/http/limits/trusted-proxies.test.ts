import { expect, test } from 'vitest'
import { createIsTrustedProxy } from './trusted-proxies.ts'

test.for([
  { trusted: [], address: '127.0.0.1', is: false },
  { trusted: ['loopback'], address: '127.0.0.2', is: true },
  { trusted: ['loopback'], address: '::1', is: true },
  { trusted: ['loopback'], address: '::ffff:127.0.0.1', is: true },
  { trusted: ['uniquelocal'], address: '10.1.2.3', is: true },
  { trusted: ['uniquelocal'], address: '11.1.2.3', is: false },
  { trusted: ['10.0.0.0/8', '192.0.2.7'], address: '192.0.2.7', is: true },
  { trusted: ['10.0.0.0/8', '192.0.2.7'], address: '192.0.2.8', is: false },
  { trusted: ['2001:db8::/32'], address: '2001:db8::5', is: true },
  { trusted: ['10.0.0.0/8'], address: '', is: false },
])('of $trusted, $address is one: $is', ({ trusted, address, is }) => {
  expect(createIsTrustedProxy(trusted)(address)).toBe(is)
})
