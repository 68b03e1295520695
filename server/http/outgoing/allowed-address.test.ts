import { expect, test } from 'vitest'
import { isAllowedAddress } from './allowed-address.ts'

test.for([
  ['8.8.8.8', true, true],
  ['2606:4700::1111', true, true],
  ['127.0.0.1', false, true],
  ['10.1.2.3', false, true],
  ['100.64.0.1', false, true],
  ['172.16.0.1', false, true],
  ['172.32.0.1', true, true],
  ['192.168.0.1', false, true],
  ['0.0.0.0', false, true],
  ['224.0.0.1', false, true],
  ['255.255.255.255', false, true],
  ['169.254.169.254', false, false],
  ['::1', false, true],
  ['::', false, true],
  ['fd12::1', false, true],
  ['fe80::1', false, false],
  ['fd00:ec2::254', false, false],
  ['::ffff:127.0.0.1', false, true],
  ['::ffff:7f00:1', false, true],
  ['::ffff:169.254.169.254', false, false],
  ['::ffff:a9fe:a9fe', false, false],
  ['::ffff:8.8.8.8', true, true],
  ['64:ff9b::7f00:1', false, true],
  ['localhost', false, false],
] as const)('%s: %s; with allow_private %s', ([address, usually, withPrivate]) => {
  expect(isAllowedAddress(address, false)).toBe(usually)
  expect(isAllowedAddress(address, true)).toBe(withPrivate)
})
