import { expect, test } from 'vitest'
import type { DeployLockInterval } from '../../../contract/deploy-lock.ts'
import { nextChanges } from './next-changes.ts'

const interval = (kind: DeployLockInterval['kind'], from: number, to: number | null): DeployLockInterval => ({
  kind,
  from,
  to,
  reason: null,
  set_by: null,
})
const locks = (at: number) => ({ at, isLocked: true })
const opens = (at: number) => ({ at, isLocked: false })

test.for([
  { name: 'nothing is known of none', intervals: [], changes: [] },
  { name: 'a window locks and opens', intervals: [interval('scheduled', 20, 30)], changes: [locks(20), opens(30)] },
  { name: 'a window that runs only opens', intervals: [interval('scheduled', 5, 30)], changes: [opens(30)] },
  {
    name: 'a manual lock until released never opens',
    intervals: [interval('manual', 5, null), interval('scheduled', 20, 30)],
    changes: [],
  },
  {
    name: 'a lock that runs into a window opens with it',
    intervals: [interval('manual', 5, 25), interval('scheduled', 20, 30)],
    changes: [opens(30)],
  },
  {
    name: 'an opened window locks again',
    intervals: [interval('scheduled', 5, 30), interval('opened', 8, 15)],
    changes: [locks(15), opens(30)],
  },
])('$name', ({ intervals, changes }) => expect(nextChanges(intervals, 10)).toEqual(changes))
