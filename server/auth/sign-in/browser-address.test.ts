import { expect, test } from 'vitest'
import { isOnThisMachine, returnPathOf } from './browser-address.ts'

test.for<[string | undefined, string]>([
  [undefined, '/'],
  ['', '/'],
  ['/', '/'],
  ['/tasks?status=failed#x', '/tasks?status=failed#x'],
  ['/tasks/ö', '/tasks/%C3%B6'],
  ['tasks', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/a\\b', '/'],
  ['\\\\evil.example', '/'],
  ['https://evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['/\t/evil.example', '/'],
  ['/\n/evil.example', '/'],
  ['/\r\nSet-Cookie: a=b', '/'],
  ['/.//evil.example', '/'],
  ['/a/..//evil.example', '/'],
  ['/%2f%2fevil.example', '/%2f%2fevil.example'],
  [`/${'a'.repeat(3000)}`, '/'],
])('after a sign-in that wanted %j the browser goes to %s', ([wanted, path]) => expect(returnPathOf(wanted)).toBe(path))

test.for<[string, boolean]>([
  ['http://localhost:8080', true],
  ['http://127.0.0.1', true],
  ['http://[::1]:8080', true],
  ['http://localhost.evil.example', false],
  ['http://watcher.example', false],
  ['http://127.0.0.1.evil.example', false],
])('%s is on this machine: %s', ([url, expected]) => expect(isOnThisMachine(url)).toBe(expected))
