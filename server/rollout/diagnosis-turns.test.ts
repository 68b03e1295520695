import { expect, test } from 'vitest'
import { createDiagnosisTurns, type DiagnosisTurn } from './diagnosis-turns.ts'

const anApplication = (): { diagnosisTurn: DiagnosisTurn | undefined } => ({ diagnosisTurn: undefined })
const slow = { kind: 'tree', diagnosis: 'slow' } as const
const bad = { kind: 'tree', diagnosis: 'bad' } as const

test('thousands of slow rollouts are looked into in turn, 20 a second', () => {
  const turns = createDiagnosisTurns()
  const applications = Array.from({ length: 2_000 }, anApplication)
  const waits = applications.map((application) => turns.waitMs(application, slow, 1_000))
  expect([waits[0], waits[1], waits[1_999]]).toEqual([0, 50, 99_950])
  const due = applications.filter((application) => turns.waitMs(application, slow, 11_000) === 0)
  expect(due, 'the turns of ten seconds, and the first one that has its next').toHaveLength(200)
})

test('a turn is kept while its application looks again', () => {
  const turns = createDiagnosisTurns()
  turns.waitMs(anApplication(), slow, 0)
  const second = anApplication()
  expect([0, 20, 50].map((nowMs) => turns.waitMs(second, slow, nowMs))).toEqual([50, 30, 0])
})

test('bad Pods do not wait behind slow rollouts', () => {
  const turns = createDiagnosisTurns()
  for (let at = 0; at < 1_000; at += 1) turns.waitMs(anApplication(), slow, 0)
  const turning = anApplication()
  expect(turns.waitMs(turning, slow, 0)).toBe(50_000)
  expect(turns.waitMs(turning, bad, 0)).toBe(0)
})

test('what a verdict needs waits for no turn', () => {
  const turns = createDiagnosisTurns()
  const application = anApplication()
  for (let at = 0; at < 100; at += 1) expect(turns.waitMs(application, { kind: 'tree' }, 0)).toBe(0)
  expect(turns.waitMs(application, { kind: 'read' }, 0)).toBe(0)
})
