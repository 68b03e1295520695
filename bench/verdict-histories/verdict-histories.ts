import { fork } from 'node:child_process'
import { parseArgs } from 'node:util'
import { playSeed, scriptOf, shrinkSeed } from '../../test/histories/play-seed.ts'
import { emptyTally, mergeTally, renderTally, type Tally } from '../../test/histories/tally-histories.ts'

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

process.exitCode = values.replay === undefined ? await playMany() : await replay(Number(values.replay))

async function playMany(): Promise<number> {
  const first = Number(values.seed)
  const end = first + Number(values.count)
  const workers = Math.max(1, Math.min(Number(values.workers), Number(values.count)))
  const beganMs = performance.now()
  const tally = emptyTally()
  await Promise.all(Array.from({ length: workers }, (_, index) => work(first + index, end, workers, tally)))
  const seconds = (performance.now() - beganMs) / 1_000
  console.log(renderTally(tally).join('\n'))
  console.log(
    `${seconds.toFixed(0)} s with ${workers} processes, ${((seconds * 1_000 * workers) / tally.histories).toFixed(1)} ms a history`,
  )
  return tally.failures.length === 0 ? 0 : 1
}

function work(first: number, end: number, step: number, tally: Tally): Promise<void> {
  const worker = fork(new URL('play-range.ts', import.meta.url), [first, end, step].map(String))
  worker.on('message', (message) => {
    // Sent by our own worker, which sends nothing else.
    const share = message as Tally
    mergeTally(tally, share)
    for (const { seed } of share.failures) console.error(`seed ${seed} shows what none may show`)
    if (process.stderr.isTTY) process.stderr.write(`\r${tally.histories}`)
  })
  return new Promise((resolve, reject) => {
    worker.on('error', reject)
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))))
  })
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
