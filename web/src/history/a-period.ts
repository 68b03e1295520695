import type { HistoryPeriod } from '../../../contract/history.ts'

/** A period for tests, in which nothing ended unless `fields` says so. */
export const aPeriod = (fields: Partial<HistoryPeriod> = {}): HistoryPeriod => ({
  from: 0,
  to: 1,
  counts: {},
  locked_seconds: 0,
  deploy_frequency: 0,
  rollbacks: [],
  ...fields,
})
