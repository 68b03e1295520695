import type { IncomingMessage } from 'node:http'
import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** The service sends something every 15 s. */
const silenceMs = 20_000

/**
 * The messages of `text/event-stream`, as they come; it ends with the stream. One that is silent for 20 s is dead.
 * @throws where the connection is cut
 */
export async function* readEventStream(stream: IncomingMessage): AsyncGenerator<EventSourceMessage> {
  const read: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (message) => read.push(message) })
  const decoder = new TextDecoder()
  stream.setTimeout(silenceMs, () => stream.destroy(new Error('the event stream is silent')))
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* read.splice(0)
  }
}
