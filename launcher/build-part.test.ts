import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { buildPart, client, ui } from './build-part.mjs'

let checkout: string
const at = (file: string) => path.join(checkout, file)
const put = (file: string, text: string) => {
  mkdirSync(path.dirname(at(file)), { recursive: true })
  writeFileSync(at(file), text)
}
const lastYear = new Date(Date.now() - 365 * 86_400_000)

/** As a build that takes long enough for a source to be edited meanwhile, where `edit` names one. */
const vite = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
appendFileSync('builds', 'one ')
rmSync('web/dist', { recursive: true, force: true })
mkdirSync('web/dist')
if (existsSync('edit')) writeFileSync(readFileSync('edit', 'utf8'), 'edited')
writeFileSync('web/dist/index.html', 'page')
`

beforeEach(() => {
  checkout = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-build-'))
  put('package.json', '{"type":"module"}')
  put('package-lock.json', '{}')
  put('node_modules/.package-lock.json', '{}')
  put('node_modules/vite/bin/vite.js', vite)
  put('web/src/page.ts', 'one')
  put('web/src/part.ts', 'two')
  put('contract/task.ts', 'three')
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  build()
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(checkout, { recursive: true })
})

const build = () => buildPart(ui, checkout, process.execPath)
const builds = () => readFileSync(at('builds'), 'utf8').split(' ').length - 1

test('what is built is not built again, whatever the times of its sources', () => {
  utimesSync(at('web/src/page.ts'), new Date(), new Date(Date.now() + 60_000))
  build()
  expect(builds()).toBe(1)
})

test.for([
  ['a source is replaced by an older one', () => put('web/src/page.ts', 'older')],
  ['a source is deleted', () => rmSync(at('web/src/part.ts'))],
  ['the contract changes', () => put('contract/task.ts', 'four')],
  ['other packages are installed', () => put('node_modules/.package-lock.json', '{"packages":{}}')],
  ['the build is missing', () => rmSync(at('web/dist/index.html'))],
] as const)('%s: it is built again, once', ([, change]) => {
  change()
  for (const file of ['web/src/page.ts', 'contract/task.ts', 'node_modules/.package-lock.json'])
    utimesSync(at(file), lastYear, lastYear)
  build()
  build()
  expect(builds()).toBe(2)
})

test('a source is edited during the build: it is built again', () => {
  put('edit', 'web/src/page.ts')
  put('contract/task.ts', 'four')
  build()
  build()
  expect(builds()).toBe(3)
})

test('an installation without development packages goes on without the client, but not without the pages', () => {
  rmSync(at('node_modules/vite'), { recursive: true })
  rmSync(at('web/dist'), { recursive: true })
  expect(() => buildPart(client, checkout, process.execPath)).not.toThrow()
  expect(build).toThrow('the web UI is not built and its build needs all packages')
})
