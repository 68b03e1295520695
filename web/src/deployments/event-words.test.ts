import { expect, test } from 'vitest'
import { eventWords } from './event-words.ts'

test.for([
  ['accepted', 'accepted from ada: shop:v2', 'Accepted from ada: shop:v2', ''],
  ['commit_pushed', 'commit 4be19d0 pushed to main', 'Commit 4be19d0 pushed to main', ''],
  ['health_changed', 'Progressing', 'Health status:', 'Progressing'],
  ['taken_over', '', 'Taken over by another replica', ''],
  ['of_a_newer_service', 'canary at 20 %', 'Canary at 20 %', ''],
  ['of_a_newer_service', '', 'of_a_newer_service', ''],
  ['constructor', 'what', 'What', ''],
] as const)('the event %s with "%s" is told as "%s"', ([kind, detail, what, more]) => {
  expect(eventWords({ kind: kind as 'note', detail })).toEqual({ what, more })
})
