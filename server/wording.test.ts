import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
/** Words that are never right here. "there is none" and the account `nobody` are. */
const banned = /\b(?<!['`])nobody\b|\b(?:somebody|whoever|(?<!there )is none|anew|bears)\b/gi

const folders = ['action', 'docs', 'contract', 'server', 'web/src', 'launcher', 'simulator', 'gotemplate']
const filesBelow = (folder: string) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(md|tsx?|mjs)$/.test(file) && !file.startsWith('dist') && !/\.test\.tsx?$/.test(file))
    .map((file) => path.join(folder, file))

test('no document, message or comment has a banned word', () => {
  const files = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'launcher.mjs', ...folders.flatMap(filesBelow)]
  expect(files.length).toBeGreaterThan(500)
  const found = files.flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(banned)].map(([word]) => `${file}: ${word}`),
  )
  expect(found).toEqual([])
})
