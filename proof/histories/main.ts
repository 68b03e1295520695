import { parseArgs } from 'node:util'
import { playMany } from './play-many.ts'
import { playSeed, scriptOf, shrinkSeed } from './play-seed.ts'
import { renderTally } from './tally-histories.ts'

/**
 * Random histories of the rollout engine against the controller model, and how many verdicts were wrong.
 *
 *   --count N    how many (100,000)      --seed S     the first seed (1)
 *   --workers N  processes (2)           --replay S   plays one seed, shrinks it if it fails, and shows the script
 *
 * Ends with 1 if a history shows what none may show.
 */
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    replay: { type: 'string' },
  },
})

process.exitCode = values.replay === undefined ? await playAll() : await replay(Number(values.replay))

async function playAll(): Promise<number> {
  const range = { first: Number(values.seed), count: Number(values.count), workers: Number(values.workers) }
  const beganMs = performance.now()
  const tally = await playMany(range, (share, sum) => {
    for (const { seed } of share.failures) console.error(`seed ${seed} shows what none may show`)
    if (process.stderr.isTTY) process.stderr.write(`\r${sum.histories}`)
  })
  const seconds = (performance.now() - beganMs) / 1_000
  console.log(renderTally(tally).join('\n'))
  console.log(
    `${seconds.toFixed(0)} s with ${range.workers} processes, ${((seconds * 1_000 * range.workers) / tally.histories).toFixed(1)} ms a history`,
  )
  return tally.failures.length === 0 ? 0 : 1
}

async function replay(seed: number): Promise<number> {
  const { verdicts, violations } = await playSeed(seed)
  for (const { end, finding } of verdicts)
    console.log(`${finding}: ${end.status} ${end.cause ?? ''}\n${end.reason ?? ''}\n`)
  if (violations.length === 0) {
    console.log(JSON.stringify(scriptOf(seed), undefined, 1))
    return 0
  }
  const shrunk = await shrinkSeed(seed, 60_000)
  console.log(JSON.stringify(shrunk?.script, undefined, 1))
  console.log((shrunk?.violations ?? violations).join('\n\n'))
  return 1
}
