import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const patches = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.patch'))

test('there are at least 16 planted bugs', () => expect(patches.length).toBeGreaterThanOrEqual(16))

const root = path.resolve(import.meta.dirname, '../..')

test.for(patches)('the test that catches %s is there under its name', (name) => {
  const command = readFileSync(path.join(import.meta.dirname, name), 'utf8').split('\n', 1)[0] ?? ''
  const titles = /-t ['"](.+)['"]/.exec(command)?.[1]?.split('|') ?? []
  const files = command.match(/\S+\.test\.ts/g) ?? []
  const source = files.map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n')
  expect(titles.filter((title) => !source.includes(title))).toEqual([])
})

test.for(patches)('the planted bug %s still fits the code', (name) => {
  const options = ['apply', '--check', '-C1', '--recount', path.join(import.meta.dirname, name)]
  const { stderr } = spawnSync('git', options, { cwd: root, encoding: 'utf8' })
  expect(stderr).toBe('')
})
