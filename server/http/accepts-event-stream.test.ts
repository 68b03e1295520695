import { expect, test } from 'vitest'
import { acceptsEventStream } from './accepts-event-stream.ts'

test.for<[string | undefined, boolean]>([
  ['text/event-stream', true],
  ['application/json, text/event-stream;q=0.5', true],
  ['TEXT/Event-Stream', true],
  ['text/event-stream;q=0', false],
  ['application/json, text/event-stream; q=0.000', false],
  ['text/event-streams', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
])('Accept: %s', ([accept, isStream]) => expect(acceptsEventStream(accept)).toBe(isStream))
