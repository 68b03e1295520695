import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const below = (folder: string) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => path.join(folder, file))

const folders = [
  '.ci',
  'bench',
  'chart',
  'contract',
  'docs',
  'launcher',
  'proof',
  'server',
  'simulator',
  'test',
  'web/src',
]
const files = [...folders.flatMap(below), ...readdirSync(root)].filter((file) =>
  /\.(ts|tsx|mjs|md|sql|css|patch|tpl|txt|yaml)$/.test(file),
)
const codeBlock = /^ *```[\s\S]*?^ *```$/gm
const own = path.relative(root, import.meta.filename)
const texts = files.filter((file) => file !== own).map((file) => [file, read(file)] as const)

/** What `pattern` finds in all files; it is to have one group. */
const cited = (pattern: RegExp) =>
  texts.flatMap(([file, text]) => [...text.matchAll(pattern)].map(([, one = '']) => ({ file, one })))
/** As `file: citation`. */
const dangling = (pattern: RegExp, exists: (one: string) => boolean) =>
  cited(pattern).flatMap(({ file, one }) => (exists(one) ? [] : [`${file}: ${one}`]))

const pages = files.filter((file) => file.endsWith('.md'))
const records = pages
  .map((file) => /^docs\/decisions\/((\d{4})-[a-z-]+)\.md$/.exec(file))
  .filter((found) => found !== null)

describe('what is cited can be looked up', () => {
  test('a decision is a record', () => {
    const numbers = records.map(([, , number]) => number)
    expect(dangling(/\bdecision (\d+)/gi, (number) => numbers.includes(number))).toEqual([])
    expect(cited(/\bdecision (\d+)/gi).length).toBeGreaterThan(10)
  })

  test('each record has a number of its own, bears it, and is in the index', () => {
    const index = read('docs/decisions/README.md')
    const listed = [...index.matchAll(/^\| \[(\d{4})\]\(\1-/gm)].map(([, number]) => number)
    expect(listed).toEqual(records.map(([, , number]) => number).sort())
    for (const [file, name = '', number] of records) {
      expect(index).toContain(`[${number}](${name}.md)`)
      expect(read(file)).toMatch(new RegExp(`^# ${number} `))
    }
  })

  test('a section of the specification is a heading of docs/spec/contract.md', () => {
    const headings = [...read('docs/spec/contract.md').matchAll(/^#+ ([\d.]+) /gm)].map(([, section]) => section)
    const sections = /\bspec (\d(?:\.\d)?(?:, \d(?:\.\d)?)*)/g
    expect(dangling(sections, (list) => list.split(', ').every((one) => headings.includes(one)))).toEqual([])
    expect(cited(sections).length).toBeGreaterThan(10)
  })

  test('a threat, fault, invariant or bad input is a row of docs/spec/cases.md', () => {
    const ids = [...read('docs/spec/cases.md').matchAll(/^\| ([TFIB]\d+) \|/gm)].map(([, id]) => id)
    expect(dangling(/(?<![%\w])([TFIB]\d{1,2})\b/g, (id) => ids.includes(id))).toEqual([])
  })

  test('a page is in the repository', () => {
    const names = new Set(pages.map((file) => path.basename(file)))
    // A literal is the name of a file in a test's repository.
    expect(dangling(/(?<!')\b([\w-]+\.md)\b(?!')/g, (page) => names.has(page))).toEqual([])
    expect(dangling(/(§)/g, () => false)).toEqual([])
  })

  test('a file that is named with its path is in the repository', () => {
    const named =
      /`((?:bench|contract|docs|launcher|proof|server|simulator|test|web)\/[\w./-]+\.(?:ts|tsx|mjs|md|sql))`/g
    expect(dangling(named, (file) => files.includes(file))).toEqual([])
    expect(cited(named).length).toBeGreaterThan(5)
  })

  test('a link in a page leads to a file, and to a heading of it where it names one', () => {
    const broken = pages.flatMap((page) =>
      linksOf(page).filter((link) => {
        const [to = '', heading] = link.split('#')
        const file = to === '' ? page : path.join(path.dirname(page), to)
        if (!existsSync(path.join(root, file))) return true
        return heading !== undefined && !anchorsOf(file).includes(heading)
      }),
    )
    expect(broken).toEqual([])
  })
})

/** Links and pictures that lie in the repository. */
function linksOf(page: string): readonly string[] {
  const text = read(page)
    .replace(codeBlock, '')
    .replace(/`[^`\n]*`/g, 'code')
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)].map(([, link, source]) => link ?? source ?? '')
  return targets.filter((target) => !/^https?:/.test(target))
}

/** As Git hosts name headings: lower case, hyphens for blanks, other characters left out. */
function anchorsOf(page: string): readonly string[] {
  const headings = [
    ...read(page)
      .replace(codeBlock, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading = '']) => heading)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
