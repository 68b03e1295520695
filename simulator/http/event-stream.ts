import type { Clock } from '../model/clock.ts'
import { type ApiError, streamErrorEnvelope } from './api-error.ts'
import type { Call } from './call.ts'
import { goJson } from './go-json.ts'
import { selectFields } from './select-fields.ts'

/** How an open stream ends or goes wrong. */
export type StreamEnding = 'eof' | 'reset' | 'mid-line' | 'unfinished'

export type EventStream = ReturnType<typeof openEventStream>

const bufferSize = 1_000

/**
 * One answer that goes on: server-sent events or newline-delimited JSON, framed byte for byte like the real server's.
 *
 * Nothing is sent before the first message, the status line included; keepalives start with it, in event streams only.
 */
export function openEventStream(call: Call, { clock, keepaliveMs }: { clock: Clock; keepaliveMs: () => number }) {
  const { response, request, url } = call
  const isEventStream = request.headers.accept === 'text/event-stream'
  const fields = url.searchParams.get('fields') ?? ''
  const waiting: string[] = []
  let cancelKeepalive: () => void = () => {}
  let isBlocked = false
  let isStalled = false
  let dropped = 0

  function serialise(message: unknown): string {
    return goJson(fields === '' ? message : selectFields(message, fields))
  }

  function begin(status: number): void {
    if (response.headersSent) return
    response.statusCode = status
    response.setHeader('Content-Type', isEventStream ? 'text/event-stream' : 'application/json')
    if (status === 200) response.setHeader('Grpc-Metadata-Content-Type', 'application/grpc')
    if (isEventStream) response.setHeader('X-Content-Type-Options', 'nosniff')
    else response.setHeader('Vary', 'Accept-Encoding')
    if (isEventStream && status === 200) keepalive()
  }

  function keepalive(): void {
    cancelKeepalive = clock.setTimer(keepaliveMs(), () => {
      if (response.destroyed || response.writableEnded) return
      if (!isStalled) response.write(':\n')
      keepalive()
    })
  }

  function write(frame: string): void {
    const [content, end] = isEventStream ? [`data: ${frame} \n\n`, '\n'] : [frame, '\n']
    response.write(content)
    isBlocked = !response.write(end)
  }

  response.on('drain', () => {
    isBlocked = false
    while (waiting.length > 0 && !isBlocked) write(waiting.shift() ?? '')
  })
  response.on('close', () => cancelKeepalive())

  return {
    call,
    serialise,
    /** Sends what `serialise` made, or buffers it; a full buffer drops it silently. */
    send(frame: string): void {
      if (response.destroyed || response.writableEnded || isStalled) return
      begin(200)
      if (!isBlocked) write(frame)
      else if (waiting.length < bufferSize) waiting.push(frame)
      else dropped++
    },
    /** The last frame: a status of its own before the first message, a line in the stream after it. */
    fail(error: ApiError): void {
      if (response.destroyed || response.writableEnded) return
      begin(error.status)
      cancelKeepalive()
      const frame = serialise(streamErrorEnvelope(error))
      response.end(isEventStream ? `data: ${frame} \n\n` : frame)
    },
    /** From now on the connection stays open and silent, keepalives included; what happens meanwhile is lost. */
    stall(): void {
      isStalled = true
    },
    end(how: StreamEnding): void {
      cancelKeepalive()
      begin(200)
      if (how === 'eof') response.end()
      else if (how === 'reset') response.socket?.resetAndDestroy()
      else if (how === 'unfinished') response.socket?.end()
      else endInTheMiddle()
    },
    droppedEvents: () => dropped,
  }

  function endInTheMiddle(): void {
    response.write(`${isEventStream ? 'data: ' : ''}{"result":{"type":"MODIFIED","appli`, () => response.socket?.end())
  }
}
