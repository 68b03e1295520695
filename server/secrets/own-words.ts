import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const sources = ['server', 'contract'].map((folder) => path.join(import.meta.dirname, '../..', folder))

/** Fields of each line of the log that the logger names, not we. */
const fieldsOfTheLog = 'level time pid hostname msg err type message stack code'

let words: string | undefined

/**
 * Whether a text is part of the words that the service itself writes: names of settings, fields and routes, messages.
 * Hiding these would reveal a secret by the gaps that it leaves (decision 0008). The service runs from its
 * sources, so they hold every such word.
 */
export function isServiceText(text: string): boolean {
  words ??= [fieldsOfTheLog, ...sources.flatMap(textsBelow)].join('\n')
  return words.includes(text)
}

function textsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|mjs|sql)$/.test(file) && !/\.test\.ts$/.test(file))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
}
