import { judgeVector } from './judge-vector.ts'
import { readVectorFile } from './vector-file.ts'

/** `npm run template:vectors -- <file>`: judges the engine by results of Go's own. */
const [path] = process.argv.slice(2)
if (path === undefined) {
  console.error('usage: npm run template:vectors -- <file>')
  process.exit(78)
}
const file = await readVectorFile(path)
let passed = 0
for (const vector of file.vectors) {
  const fault = judgeVector(file, vector)
  if (fault === undefined) passed++
  else
    console.log(`${vector.id}: ${vector.template}\n  expected ${show(fault.expected)}\n  found    ${show(fault.found)}`)
}
console.log(`${passed} of ${file.vectors.length}`)
process.exitCode = passed === file.vectors.length ? 0 : 1

function show({ kind, text, bytes }: { kind: string; text: string; bytes: string }): string {
  return `${kind} ${text} ${JSON.stringify(Buffer.from(bytes, 'base64').toString())}`
}
