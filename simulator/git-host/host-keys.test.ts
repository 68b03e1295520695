import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { loadHostKeys } from './host-keys.ts'

test('every key that is made can be read again', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'host-keys-'))
  const unreadable = Array.from({ length: 400 }, (_, index) => loadHostKeys(path.join(folder, String(index))))
    .flatMap(({ hostKey, clientKeyPath }) => [hostKey, readFileSync(clientKeyPath)])
    .filter((key) => ssh2.utils.parseKey(key) instanceof Error)
  rmSync(folder, { recursive: true })
  expect(unreadable).toEqual([])
})
