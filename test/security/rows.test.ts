import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '../..')
const own = path.basename(import.meta.filename)
const testFiles = ['contract', 'launcher', 'proof', 'server', 'test'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && path.basename(file) !== own)
    .map((file) => path.join(folder, file)),
)
const sources = testFiles.map((file) => [file, readFileSync(path.join(root, file), 'utf8')] as const)
const provenIn = (id: string) =>
  sources.filter(([, text]) => new RegExp(`\\b${id}\\b`).test(text)).map(([file]) => file)

test('each case of docs/spec/cases.md is named by a test, or says where its tests are', () => {
  const cases = readFileSync(path.join(root, 'docs/spec/cases.md'), 'utf8')
  const places = [
    ...cases.matchAll(/^\| ([TFIB]\d+) \|.*?(?:: `((?:launcher|proof|server|simulator|test)\/[^`]+)`)? \|$/gm),
  ].map(([, id = '', place]) => [id, place === undefined ? provenIn(id) : [place]] as const)
  console.info(places.map(([id, files]) => `${id}: ${files.join(', ')}`).join('\n'))
  expect(places.length).toBeGreaterThan(100)
  const isProven = (files: readonly string[]) =>
    files.length > 0 && files.every((file) => existsSync(path.join(root, file)))
  expect(places.filter(([, files]) => !isProven(files)).map(([id]) => id)).toEqual([])
})
