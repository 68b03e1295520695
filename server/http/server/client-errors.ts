import type { IncomingMessage, ServerResponse } from 'node:http' // its values would load a fetch of Node's that nothing uses
import type { Socket } from 'node:net'

/**
 * Answers what is not even HTTP, or came too slowly; the connection ends. The rest of a request that has its answer
 * already gets no second one: a client or a proxy would take that for the answer to its next request.
 */
export function createClientErrors() {
  const newest = new WeakMap<Socket, ServerResponse>()
  return {
    /** To be told of every request, so that its answer is known. */
    note: (request: IncomingMessage, response: ServerResponse) => void newest.set(request.socket, response),
    answer(error: Error & { code?: string }, socket: Socket): void {
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
      else if (isAnswered(newest.get(socket))) socket.destroySoon()
      else endWith(socket, error.code)
    },
  }
}

/** Whether the request that is still under way has been answered, wholly or in part. */
const isAnswered = (response: ServerResponse | undefined) =>
  response?.headersSent === true && !(response.req.complete && response.writableFinished)

function endWith(socket: Socket, code: string | undefined): void {
  const { status, text } = describe(code)
  const body = JSON.stringify({ error: text })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

/** Node hands over what expects anything but 100-continue before the framework sees it. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ error: 'Expect: only 100-continue is supported' })
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length }
  response.writeHead(417, { ...headers, Connection: 'close' }).end(body)
}

function describe(code: string | undefined): { status: string; text: string } {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: '408 Request Timeout', text: 'the request took too long to arrive' }
  if (code === 'HPE_HEADER_OVERFLOW')
    return { status: '431 Request Header Fields Too Large', text: 'the headers are larger than 8 KiB' }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return { status: '413 Payload Too Large', text: 'the chunk extensions are too large' }
  return { status: '400 Bad Request', text: 'malformed HTTP request' }
}
