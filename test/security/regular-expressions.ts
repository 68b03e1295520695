import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** What may stand before a regular expression; elsewhere a slash divides. */
const literal = /(?<=^|[=(,:?&|![{;]\s*|return\s)\/(?![/*])((?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/gm

export type FoundExpression = { readonly file: string; readonly expression: RegExp }

/** Every regular expression written in the sources below a folder, tests aside. */
export function expressionsIn(folder: string): FoundExpression[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files.filter(isSource).flatMap((file) => {
    const text = readFileSync(path.join(folder, file), 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
    return [...text.matchAll(literal)].map(([, source = '', flags]) => ({
      file,
      expression: new RegExp(source, flags),
    }))
  })
}

/** Sources that make an expression from text at run time, which a search for literals cannot see. */
export function filesWithComputedExpressions(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isSource)
  return files.filter((file) => /\bRegExp\(/.test(readFileSync(path.join(folder, file), 'utf8')))
}

const isSource = (file: string) => /\.(?:ts|mjs)$/.test(file) && !file.endsWith('.test.ts')

const size = 100_000
const pieces = [
  ...['a', '0', ' ', '\t', '-', '.', '/', '\\', '"', "'", ':', '@', '=', ',', '%', '&', '_', '(', '[', '{', '\n', 'é'],
  ...[
    'a-',
    'a.',
    'a b',
    'a/',
    'a:',
    'a@',
    'a=',
    '0.',
    '..',
    '//',
    'a://',
    '"a"',
    '\\"',
    '%2',
    'aA0',
    ' \t',
    'a,',
    '-  ',
    ': \t',
    '\r\n',
  ],
]

/** Texts of 100 kB that make careless expressions try again and again: long runs that break off at their end. */
export function hostileTexts({ source }: RegExp): string[] {
  const words = source.replace(/\\[a-zA-Z]/g, ' ').match(/[\w-]{2,}/g) ?? []
  const around = words.flatMap((word) => [word, `${word}=`, `"${word}":"`, `-${word}`, `.${word}`])
  return [...hostilePieces, ...around.flatMap(textsOf)]
}

function textsOf(piece: string): string[] {
  const text = piece.repeat(Math.ceil(size / piece.length)).slice(0, size)
  return [text, `${text}\0`, `"${text}\0`, `a://${text}\0`]
}
const hostilePieces = pieces.flatMap(textsOf)
