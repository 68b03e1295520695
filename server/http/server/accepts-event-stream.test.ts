import { expect, test } from 'vitest'
import { acceptsEventStream } from './accepts-event-stream.ts'

test.for<[string | undefined, boolean]>([
  ['text/event-stream', true],
  ['application/json, text/event-stream', true],
  ['application/json, text/event-stream;q=0.5', false],
  ['application/json;q=0.4, text/event-stream;q=0.5, */*;q=0.1', true],
  ['text/event-stream;q=0.5, */*', false],
  ['text/event-stream;q=high', false],
  ['TEXT/Event-Stream', true],
  ['text/event-stream;q=0', false],
  ['application/json, text/event-stream; q=0.000', false],
  ['text/event-streams', false],
  ['*/*', false],
  ['', false],
  [undefined, false],
])('Accept: %s', ([accept, isStream]) => expect(acceptsEventStream(accept)).toBe(isStream))
