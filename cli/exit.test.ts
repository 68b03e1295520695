import { expect, test } from 'vitest'
import { exitOfStatus, worstExit } from './exit.ts'

test.for([
  ['all deployed', [0, 0], 0],
  ['a failure outweighs everything', [0, 7, 8, 9, 10, 5, 4, 3, 6, 1], 1],
  ['an outcome that nobody could confirm outweighs a missing verdict', [9, 8], 8],
  ['a missing verdict outweighs an unknown application', [10, 9], 9],
  ['an unknown application outweighs a rejection', [5, 10], 10],
  ['a rejection outweighs a bad credential', [4, 5], 5],
  ['a bad credential outweighs an unreachable server', [3, 4], 4],
  ['an unreachable server outweighs a lock', [6, 3], 3],
  ['a lock outweighs a replaced deployment', [7, 6, 0], 6],
  ['nothing was asked', [], 0],
] as const)('%s', ([, codes, worst]) => expect(worstExit(codes)).toBe(worst))

test.for([
  ['deployed', 0],
  ['failed', 1],
  ['cancelled', 7],
  ['aborted', 8],
  ['app not found', 10],
  ['a status of a later version', 9],
] as const)('%s ends with %i', ([status, code]) => expect(exitOfStatus(status)).toBe(code))
