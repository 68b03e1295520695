import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Simulator } from '../simulator.ts'
import { controlCommands } from './control-commands.ts'

/**
 * The control over HTTP, for tests in other processes: `POST /<command>` with a JSON body.
 *
 * The answer is `{ "result": … }`, or `{ "error": … }` with 400 (input), 404 (no such command) or 500.
 */
export async function startControlServer(simulator: Simulator, port = 0) {
  const commands = controlCommands(simulator)

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = (request.url ?? '').slice(1)
    const command = request.method === 'POST' && Object.hasOwn(commands, name) ? commands[name] : undefined
    if (!command) return answer(response, 404, { error: `No such command: ${request.method} /${name}` })
    try {
      const result = await command(await bodyOf(request))
      answer(response, 200, { result: result ?? null })
    } catch (error) {
      const isInput = error instanceof z.ZodError || error instanceof SyntaxError
      answer(response, isInput ? 400 : 500, { error: error instanceof Error ? error.message : String(error) })
    }
  }

  const server = createServer((request, response) => void handle(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()

  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const text = Buffer.concat(parts).toString()
  return text === '' ? {} : JSON.parse(text)
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify(body))
}
