import { fork } from 'node:child_process'
import { emptyTally, mergeTally, type Tally } from './tally-histories.ts'

type Range = { readonly first: number; readonly count: number; readonly workers: number }

/** Plays `count` histories from seed `first` on in as many processes; `onShare` hears of the figures of each part. */
export async function playMany({ first, count, workers }: Range, onShare: (share: Tally, sum: Tally) => void) {
  const sum = emptyTally()
  const shares = Array.from({ length: Math.max(1, Math.min(workers, count)) }, (_, index) => index)
  await Promise.all(
    shares.map((index) =>
      work([first + index, first + count, shares.length], (share) => {
        mergeTally(sum, share)
        onShare(share, sum)
      }),
    ),
  )
  return sum
}

function work(range: readonly number[], onShare: (share: Tally) => void): Promise<void> {
  const worker = fork(new URL('play-range.ts', import.meta.url), range.map(String))
  // Sent by our own worker, which sends nothing else.
  worker.on('message', (message) => onShare(message as Tally))
  return new Promise((resolve, reject) => {
    worker.on('error', reject)
    worker.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a worker ended with ${code}`))))
  })
}
