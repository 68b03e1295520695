import { expect, test } from 'vitest'
import { type ConditionName, type ConditionState, firstUnmet } from './conditions.ts'

type States = Partial<Record<ConditionName, ConditionState>>
const conditions = (states: States) =>
  (['no_errors', 'revision', 'synced', 'operation', 'compared_after_operation', 'healthy'] as const).map((name) => ({
    name,
    state: states[name] ?? 'met',
  }))

test.for<readonly [string, States, ConditionName | undefined]>([
  ['an operation that is not over holds the message', { synced: 'not_met', operation: 'not_met' }, 'operation'],
  ['the same with all that follows', { synced: 'not_met', operation: 'not_met', healthy: 'not_met' }, 'operation'],
  [
    'what comes before the sync stays first',
    { revision: 'not_met', synced: 'not_met', operation: 'not_met' },
    'revision',
  ],
  ['an operation that is not known says nothing', { synced: 'not_met', operation: 'unknown' }, 'synced'],
  ['no operation', { synced: 'not_met' }, 'synced'],
  ['after the sync', { compared_after_operation: 'not_met', healthy: 'not_met' }, 'compared_after_operation'],
  ['all met', {}, undefined],
])('%s: %o', ([, states, first]) => expect(firstUnmet(conditions(states))?.name).toBe(first))
