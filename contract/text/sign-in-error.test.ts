import { expect, test } from 'vitest'
import { returnPathOf } from './sign-in-error.ts'

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
