import type { RequestListener } from 'node:http'
import { expect, test } from 'vitest'
import { startEndpoint } from '../credential/start-endpoint.ts'
import { runProgram } from './program.ts'

const task = { id: '01a2', app: 'shop', status: 'in progress', created: 1, updated: 2, images: [] }

/** A service with one task in progress. It is interrupted as soon as the task is read, and answers a first cancel by 502. */
function serviceOf(interrupt: () => void): RequestListener {
  let cancels = 0
  return (request, response) => {
    const reply = (status: number, body: object) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'retry-after': '0.01' })
        .end(JSON.stringify(body))
    request.resume()
    if (request.method === 'POST') return reply(202, { id: task.id })
    if (request.method === 'DELETE') {
      cancels += 1
      return cancels === 1 ? reply(502, {}) : reply(200, { ...task, status: 'cancelled' })
    }
    reply(200, task)
    return interrupt()
  }
}

async function interrupted(service: (interrupt: () => void) => RequestListener, ...flags: string[]) {
  const interruption = new AbortController()
  await using endpoint = await startEndpoint(service(() => interruption.abort()))
  const out: string[] = []
  const code = await runProgram(['deploy', '--app', 'shop', '--image', 'shop:1', '--output', 'json', ...flags], {
    variables: { WATCHER_URL: endpoint.address },
    stdout: { write: (text) => out.push(text) },
    stderr: { write: () => true },
    interrupted: interruption.signal,
  })
  expect(code).toBe(130)
  expect(out).toHaveLength(1)
  const url = `${endpoint.address}/task/${task.id}`
  return { tasks: JSON.parse(out[0] ?? '').tasks, url }
}

test('a task that goes on is no success', async () => {
  const { tasks, url } = await interrupted(serviceOf)
  expect(tasks).toEqual([{ id: task.id, app: 'shop', url, error: 'interrupted', exit_code: 130 }])
})

test('a cancel without an answer is sent again', async () => {
  const { tasks, url } = await interrupted(serviceOf, '--cancel-on-interrupt')
  expect(tasks).toEqual([{ ...task, url, status: 'cancelled', exit_code: 7 }])
})

test('a submission without an answer is named', async () => {
  const { tasks } = await interrupted((interrupt) => () => interrupt())
  expect(tasks).toEqual([{ app: 'shop', error: 'interrupted', exit_code: 130 }])
})
