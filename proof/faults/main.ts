import { parseArgs } from 'node:util'
import { databaseAway } from './database-away.ts'
import { databaseKilled } from './database-killed.ts'
import { databaseSilent } from './database-silent.ts'
import type { Fault } from './fault.ts'
import { frozenOwner } from './frozen-owner.ts'
import { killedAtStep } from './killed-at-step.ts'
import { manyAccepted } from './many-accepted.ts'
import { rollingRestarts } from './rolling-restarts.ts'
import { twoVersions } from './two-versions.ts'

/** By the numbers of docs/spec/cases.md, where they have one. */
const faults: Readonly<Record<string, Fault>> = {
  F1: databaseKilled,
  F3: databaseAway,
  F4: databaseSilent,
  F36: killedAtStep,
  F37: frozenOwner,
  rolling: rollingRestarts,
  accepted: manyAccepted,
  versions: twoVersions,
}
const limitMs = 60 * 60_000

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(faults).join(',') },
    /** How often, for how many seconds, with how many tasks: less than what is promised, for a short run. */
    times: { type: 'string' },
    seconds: { type: 'string' },
    tasks: { type: 'string' },
  },
})
const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))
const size = { times: numberOf(values.times), seconds: numberOf(values.seconds), tasks: numberOf(values.tasks) }

/** `npm run soak [-- --only F1,F36 --times 2]`: a line for each fault, and 1 where a promise was not kept. */
setTimeout(() => {
  console.error('not done within an hour')
  process.exit(1)
}, limitMs).unref()
let isKept = true
for (const name of values.only.split(',')) {
  const fault = faults[name]
  if (fault === undefined) throw new Error(`no fault ${name}: there are ${Object.keys(faults).join(', ')}`)
  const began = performance.now()
  const { figure, bar, isMet } = await fault(size)
  isKept &&= isMet
  const seconds = Math.round((performance.now() - began) / 1_000)
  console.log(`${name} ${isMet ? 'kept' : 'BROKEN'}: ${figure}; bar: ${bar} (${seconds} s)`)
}
process.exit(isKept ? 0 : 1)
