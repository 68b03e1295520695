import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { originOf } from './client-address.ts'

const addressOf = (ip: string) => originOf({ ip, headers: {} } as FastifyRequest, false).address

test.for([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:0:7::1', '2001:db8:0:7::/64'],
  ['2001:0DB8::7:ffff:0:0:1', '2001:db8:0:7::/64'],
  ['2001:db8:0:7:8:9:a:b', '2001:db8:0:7::/64'],
  ['2001:db8:0:8::1', '2001:db8:0:8::/64'],
  ['::1', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['what a trusted proxy forwards', 'what a trusted proxy forwards'],
] as const)('%s counts as %s', ([ip, address]) => expect(addressOf(ip)).toBe(address))
