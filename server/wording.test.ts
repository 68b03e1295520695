import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
/** Words that engineers of this field stumble over; the glossary has the ones to use. */
const banned =
  /\b(time-out|nobody|somebody|whoever|mend(?:s|ed)?|bury|trouble|mistakes?|told|believed|reckon|besides|anew|is no|of ours|our|we|us|last look|looked at|its turn|given up|bad end)\b/i

/** Users know it by its name. */
const bannedInMessages = /\bdelivery controller\b/i

const filesBelow = (folder: string, ending: RegExp) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => ending.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => path.join(folder, file))

const found = (file: string, texts: readonly string[], words = banned) =>
  texts.flatMap((text) => {
    const word = words.exec(text)?.[0]
    return word === undefined ? [] : [`${file}: "${word}" in: ${text.trim().slice(0, 100)}`]
  })

/** Texts of a source that a person may read: literals of several words, and what JSX shows. */
function messagesOf(source: string): readonly string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '')
  const literals = [...code.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)]
  const shown = [...code.matchAll(/>([^<>{}=;]+)</g)].map(([, text = '']) => text)
  const texts = literals.map(([, single, double, template]) => single ?? double ?? template ?? '')
  const isMessage = (text: string) => /\w \w/.test(text) && !/\b(SELECT|INSERT|UPDATE|WITH)\b/.test(text)
  return [...texts.map((text) => text.replace(/\$\{[^}]*\}/g, ' ')), ...shown].filter(isMessage)
}

describe('the words of the field', () => {
  test.for(['README.md', ...filesBelow('docs', /\.md$/)].filter((file) => !/docs\/(decisions|spec)\//.test(file)))(
    '%s',
    (file) => {
      const prose = readFileSync(path.join(root, file), 'utf8').replace(/```[\s\S]*?```|`[^`\n]*`/g, ' ')
      expect(found(file, prose.split('\n'))).toEqual([])
    },
  )

  test.for(['contract', 'server', 'web/src', 'launcher'])('messages of %s', (folder) => {
    const files = filesBelow(folder, /\.(tsx?|mjs)$/)
    const issues = files.flatMap((file) => {
      const messages = messagesOf(readFileSync(path.join(root, file), 'utf8'))
      return [...found(file, messages), ...found(file, messages, bannedInMessages)]
    })
    expect(issues).toEqual([])
  })
})
