import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const patches = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.patch'))

test('there are at least 16 planted bugs', () => expect(patches.length).toBeGreaterThanOrEqual(16))

test.for(patches)('the planted bug %s still fits the code', (name) => {
  const root = path.resolve(import.meta.dirname, '../..')
  const options = ['apply', '--check', '-C1', '--recount', path.join(import.meta.dirname, name)]
  const { stderr } = spawnSync('git', options, { cwd: root, encoding: 'utf8' })
  expect(stderr).toBe('')
})
