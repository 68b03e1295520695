import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { badInputs, threats, threatsElsewhere } from './rows.ts'

const root = path.join(import.meta.dirname, '../..')
const own = path.basename(import.meta.filename)
const testFiles = ['contract', 'server', 'test'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && path.basename(file) !== own)
    .map((file) => path.join(folder, file)),
)
const sources = testFiles.map((file) => [file, readFileSync(path.join(root, file), 'utf8')] as const)
/** Files whose tests carry the row in their name. */
const provenIn = (row: string) =>
  sources.filter(([, text]) => new RegExp(`\\b${row}\\b`).test(text)).map(([file]) => file)
const numbers = (rows: object) => Object.keys(rows).map((name) => Number(name.slice(1)))
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

test('each of the threats T1 to T50 is proven here, or it is written where it is met', () => {
  const elsewhere = Object.keys(threatsElsewhere).flatMap((name) => {
    const [from = 0, to = from] = (name.match(/\d+/g) ?? []).map(Number)
    return upTo(to).filter((one) => one >= from)
  })
  expect([...numbers(threats), ...elsewhere].sort((a, b) => a - b)).toEqual(upTo(50))
})

test('all bad inputs B1 to B54 are here', () => expect(numbers(badInputs)).toEqual(upTo(54)))

test('each row is the name of a test', () => {
  const rows = [
    ...Object.keys(threats).map((name) => `threats\\.${name}`),
    ...Object.keys(badInputs).map((name) => `badInputs\\.${name}`),
  ]
  const places = new Map(rows.map((row) => [row.split('.')[1] ?? row, provenIn(row)]))
  console.info([...places].map(([row, files]) => `${row}: ${files.join(', ')}`).join('\n'))
  expect([...places].filter(([, files]) => files.length === 0).map(([row]) => row)).toEqual([])
})
