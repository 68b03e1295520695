import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createConfigReport, watchedConfig } from './config-source.ts'
import { emptyConfig } from './parse-config.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'config-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
const newFile = (text: string) => {
  const file = path.join(folder, `${++files}.yaml`)
  writeFileSync(file, text)
  return file
}
/** As a ConfigMap is changed: the content of a path is another file from one moment to the next. */
const replace = (file: string, text: string) => renameSync(newFile(text), file)

test('a changed file counts at the next use; a wrong, empty or missing one leaves the last good content', () => {
  const file = newFile('{}')
  let now = 1_000
  const source = watchedConfig(file, emptyConfig, undefined, {}, () => now)
  expect(source.current().environments).toEqual([])
  now = 2_000
  replace(file, 'environments: { shop: production }')
  expect(source.current().environments).toEqual([['shop', 'production']])
  expect(source.state()).toEqual({ loadedMs: 2_000, issues: [] })
  now = 3_000
  for (const [text, issue] of [
    ['environments: { shop: 1 }', 'environments.shop: must be a string'],
    ['', 'the file is empty: write {} for no configuration'],
  ] as const) {
    replace(file, text)
    expect(source.current().environments).toEqual([['shop', 'production']])
    expect(source.state()).toEqual({ loadedMs: 2_000, issues: [issue] })
  }
  rmSync(file)
  expect(source.state()).toEqual({ loadedMs: 2_000, issues: ['the file cannot be read (ENOENT)'] })
  expect(source.current().environments).toEqual([['shop', 'production']])
  writeFileSync(file, 'environments: { shop: staging }')
  expect(source.current().environments).toEqual([['shop', 'staging']])
  expect(source.state()).toEqual({ loadedMs: 3_000, issues: [] })
})

test('the log says once that a file is wrong, and once that it is read again', async () => {
  const file = newFile('{}')
  let now = 1_000
  const lines: string[] = []
  const note = (level: string) => (facts: object, message: string) =>
    void lines.push(`${level} ${message} ${JSON.stringify(facts)}`)
  const report = createConfigReport(
    watchedConfig(file, emptyConfig, undefined, {}, () => now),
    { error: note('error'), info: note('info') },
  )
  await report()
  replace(file, 'x: 1')
  await report()
  await report()
  now = 2_000
  replace(file, '{ }')
  await report()
  await report()
  expect(lines).toEqual([
    'error configuration not read again, the last one counts {"issues":["x: is not known"]}',
    'info configuration read again {}',
  ])
})
