import { parseArgs } from 'node:util'
import { describeMachine } from '../support/describe-machine.ts'
import { renderTable } from '../support/render-table.ts'
import { type BenchRow, cellsOf } from './bench-row.ts'
import { endToEndRivalRows, endToEndRows } from './end-to-end-rows.ts'
import { eventLoopRows } from './event-loop-rows.ts'
import { cutOffRows, hangingHookRows } from './fault-rows.ts'
import { httpsRows } from './https-rows.ts'
import { lastingRows } from './lasting-rows.ts'
import { cutRows, endingRows } from './once-only-rows.ts'
import { fastRivalRows, slowRivalRows } from './rival-rows.ts'
import { speedRows } from './speed-rows.ts'
import { sweepRows } from './sweep-rows.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    cut: { type: 'string', default: '500' },
    tasks: { type: 'string', default: '2000' },
    writes: { type: 'string', default: '5000' },
    ended: { type: 'string', default: '1000000' },
  },
})

const rounds = Number(options.rounds)

const parts: Readonly<Record<string, () => Promise<readonly BenchRow[]>>> = {
  speed: () => speedRows(rounds),
  https: () => httpsRows(rounds),
  'event-loop': () => eventLoopRows(rounds),
  rival: fastRivalRows,
  'slow-rival': slowRivalRows,
  'end-to-end': () => endToEndRows(rounds),
  'end-to-end-rival': () => endToEndRivalRows(rounds),
  cut: () => cutRows(Number(options.cut)),
  endings: () => endingRows(Number(options.tasks)),
  'hanging-hook': hangingHookRows,
  'cut-off': cutOffRows,
  lasting: () => lastingRows(Number(options.writes)),
  sweep: () => sweepRows(Number(options.ended)),
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
