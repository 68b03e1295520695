import { parseArgs } from 'node:util'
import { describeMachine } from '../support/describe-machine.ts'
import { renderTable } from '../support/render-table.ts'
import { type BenchRow, cellsOf } from './bench-row.ts'
import { cutRows } from './cut-rows.ts'
import { rivalRows } from './rival-rows.ts'
import { speedRows } from './speed-rows.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    cut: { type: 'string', default: '500' },
  },
})

const parts: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  speed: () => speedRows(Number(options.rounds)),
  rival: rivalRows,
  cut: () => cutRows(Number(options.cut)),
}

const chosen = options.only === '' ? Object.keys(parts) : options.only.split(',')
process.stdout.write(`${describeMachine()}\n`)
for (const name of chosen) {
  const part = parts[name]
  if (part === undefined) throw new Error(`no part is named ${name}: ${Object.keys(parts).join(', ')}`)
  const rows = await part().catch((error: unknown): BenchRow[] => {
    console.error(error)
    return [{ what: name, found: `failed: ${String(error).slice(0, 100)}`, bar: 'runs', isMet: false }]
  })
  process.stdout.write(`${renderTable([name, 'found', 'bar', ''], rows.map(cellsOf))}\n${describeMachine()}\n`)
}
