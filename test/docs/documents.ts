import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

export const checkout = path.resolve(import.meta.dirname, '../..')

/** What users read: the pages of the root, of docs/ and of the chart, without the records and the specification that tests cite. */
export const documents = [
  ...readdirSync(checkout).filter((file) => file.endsWith('.md')),
  'chart/README.md',
  ...readdirSync(path.join(checkout, 'docs'))
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file)),
]

export const textOf = (document: string) => readFileSync(path.join(checkout, document), 'utf8')

export type CodeBlock = { readonly language: string; readonly heading: string; readonly code: string }

/** The code blocks of a page, each with the heading above it. */
export function codeBlocksOf(document: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = []
  let heading = ''
  for (const [, title, language, code] of textOf(document).matchAll(/^#+ (.+)$|^ *```(\S*)\n([\s\S]*?)^ *```$/gm)) {
    if (title !== undefined) heading = title
    if (code !== undefined) blocks.push({ language: language ?? '', heading, code })
  }
  return blocks
}
