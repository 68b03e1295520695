import { playSeed } from './play-seed.ts'
import { addHistory, emptyTally } from './tally-histories.ts'

/** A worker: plays the histories of every second seed, or whatever its share is, and sends the figures. */
const [first = 0, end = 0, step = 1] = process.argv.slice(2).map(Number)
const chunk = 500
let tally = emptyTally()

for (let seed = first; seed < end; seed += step) {
  addHistory(tally, seed, await playSeed(seed))
  if (tally.histories < chunk) continue
  process.send?.(tally)
  tally = emptyTally()
}
process.send?.(tally)
process.disconnect?.()
