import { expect, test } from 'vitest'
import { isOnThisMachine } from './browser-address.ts'

test.for<[string, boolean]>([
  ['http://localhost:8080', true],
  ['http://127.0.0.1', true],
  ['http://[::1]:8080', true],
  ['http://localhost.evil.example', false],
  ['http://watcher.example', false],
  ['http://127.0.0.1.evil.example', false],
])('%s is on this machine: %s', ([url, expected]) => expect(isOnThisMachine(url)).toBe(expected))
