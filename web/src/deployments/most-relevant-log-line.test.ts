import { expect, test } from 'vitest'
import { mostRelevantLogLine } from './most-relevant-log-line.ts'

test.for([
  [[], undefined],
  [['starting', 'ready'], undefined],
  [['starting', 'FATAL: no database', 'bye'], 1],
  [['error: first', 'panic: second', 'bye'], 1],
  [['java.lang.NullPointerException: x', '  at Main'], 0],
  [['fatal: first', 'Error: last'], 1],
] as const)('of %j it is %s', ([lines, index]) => expect(mostRelevantLogLine(lines)).toBe(index))
