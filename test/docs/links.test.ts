import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkout, documents, textOf } from './documents.ts'

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, 'code')

/** As Git hosts name a heading: lower case, words joined by hyphens, other characters left out. */
const anchorOf = (heading: string) =>
  heading
    .replaceAll('`', '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const anchorsOf = (document: string) =>
  new Set(
    [
      ...textOf(document)
        .replace(/^```[\s\S]*?^```$/gm, '')
        .matchAll(/^#+ (.+)$/gm),
    ].map(([, heading = '']) => anchorOf(heading)),
  )

/** Targets within the repository, pictures included. */
function linksOf(document: string): readonly string[] {
  const text = withoutCode(textOf(document))
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)].map(([, link, source]) => link ?? source ?? '')
  return [...new Set(targets)].filter((target) => !/^[a-z]+:/.test(target))
}

describe.each(documents)('%s', (document) => {
  test.for(linksOf(document))('leads to %s', (link) => {
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? document : path.join(path.dirname(document), file)
    expect(existsSync(path.join(checkout, target)), `${target} is missing`).toBe(true)
    if (anchor !== undefined) expect([...anchorsOf(target)]).toContain(anchor)
  })

  test('has a title', () => expect(textOf(document)).toMatch(/^# .+$/m))
})
