import { expect, test } from 'vitest'
import { findSimilarName } from './find-similar-name.ts'

const known = ['PORT', 'DB_HOST', 'LOG_LEVEL', 'LOCKDOWN_SCHEDULE', 'LOCKDOWN_TIMEZONE', 'managed-images']

test.for<[string, string | undefined]>([
  ['LOCKDOWN_SHEDULE', 'LOCKDOWN_SCHEDULE'],
  ['LOCKDWON_SCHEDULE', 'LOCKDOWN_SCHEDULE'],
  ['lockdown_schedule', 'LOCKDOWN_SCHEDULE'],
  ['LOCKDOWN-TIMEZONE', 'LOCKDOWN_TIMEZONE'],
  ['LOCKDOWN_TIMEZON', 'LOCKDOWN_TIMEZONE'],
  ['LOCK_SCHEDULE', undefined],
  ['DB_HOSTS', 'DB_HOST'],
  ['DB_POST', 'DB_HOST'],
  ['DB_PORTS', undefined],
  ['POST', undefined],
  ['managedimages', 'managed-images'],
  ['', undefined],
])('%s resembles %s', ([given, name]) => expect(findSimilarName(given, known)).toBe(name))
