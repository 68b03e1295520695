import { beforeAll, describe, expect, test } from 'vitest'
import { playMany } from '../histories/play-many.ts'
import { shrinkSeed } from '../histories/play-seed.ts'
import { countOf, emptyTally, renderTally } from '../histories/tally-histories.ts'

const firstSeed = 1
const historyCount = 1_000
const shrinkMs = 20_000

describe('1,000 histories of the rollout engine against the controller model', () => {
  let tally = emptyTally()

  beforeAll(async () => {
    tally = await playMany({ first: firstSeed, count: historyCount, workers: 1 }, () => {})
    console.log(renderTally(tally).join('\n'))
  })

  test('show no wrong verdict, no second end, no task that outlives its window and no timer that is left', async () => {
    const [failure] = tally.failures
    const shrunk = failure === undefined ? undefined : await shrinkSeed(failure.seed, shrinkMs)
    expect(shrunk ?? failure, `npm run proof -- histories --replay ${failure?.seed}`).toBeUndefined()
  })

  test('are not one-sided: rollouts end well and badly, by every cause that can occur', () => {
    const causes = new Set(Object.keys(tally.verdicts).map((name) => name.split(' ').at(-1)))
    expect(countOf(tally, 'right')).toBeGreaterThan(historyCount)
    expect([...occurringCauses].filter((cause) => !causes.has(cause))).toEqual([])
  })

  test('hold at least 5 % in which a grace ran out and the rollout got well later', () => {
    expect(tally.recovered).toBeGreaterThanOrEqual(historyCount * 0.05)
  })

  test('deceive a judge that takes the first green look', () => {
    expect(tally.wrongFirstGreens).toBeGreaterThan(historyCount * 0.05)
  })
})

const occurringCauses = [
  'app_gone',
  'app_not_found',
  'comparison_error',
  'controller_unreachable',
  'crash_loop',
  'git_refused',
  'git_unreachable',
  'hook_failed',
  'image_name',
  'image_not_in_application',
  'image_pull',
  'manual_sync_required',
  'no_credential',
  'no_replica',
  'probe_failing',
  'superseded',
  'suspended',
  'sync_error',
  'sync_window',
  'timeout',
]
