import { expect, test } from 'vitest'
import { argoCdSentence } from './argo-cd-sentence.ts'

test.for([
  [
    { status: 'up', stream: 'live', last_message: 998, applications: 46 },
    'Connected. Last message 2 s ago. 46 applications seen.',
  ],
  [{ status: 'up' }, 'Connected.'],
  [{ status: 'degraded', detail: 'the stream is closed' }, 'Connected, with delays. The stream is closed.'],
  [{ status: 'down', detail: 'no answer', unreachable_since: 940 }, 'Unreachable for 1 min. No answer.'],
] as const)('%j reads "%s"', ([status, words]) => {
  expect(argoCdSentence(status, 1_000).replaceAll('\u00a0', ' ')).toBe(words)
})
