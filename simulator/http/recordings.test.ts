import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually } from '../../test/support/eventually.ts'
import { systemClock } from '../model/clock.ts'
import { createDeliveryController } from '../model/delivery-controller.ts'
import { chartFiles } from '../model/example-repository.ts'
import { createMemoryGit } from '../model/memory-git.ts'
import { seededRandom } from '../model/random.ts'
import { fastTimes } from '../model/simulator-times.ts'
import { createAccounts } from './accounts.ts'
import { startArgoCdServer } from './argo-cd-server.ts'

const recordings = new URL('../../test/fixtures/argocd/', import.meta.url)

const recordedCalls = z
  .array(
    z.object({
      why: z.string(),
      request: z.string(),
      request_headers: z.record(z.string(), z.string()),
      request_body: z.string(),
      first_byte_ms: z.number().nullable(),
      status: z.number().nullable(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
    }),
  )
  .parse(JSON.parse(readFileSync(new URL('18-error-bodies/errors.json', recordings), 'utf8')))

/** What only that installation could say: UI files it lacked, its build, its password check. */
const notSimulated = ['unknown path, Accept text/html', 'version, token']

const git = createMemoryGit()
git.push('repo', { ...chartFiles('app'), ...chartFiles('app20') })
const controller = createDeliveryController({
  clock: systemClock,
  random: seededRandom(1),
  git,
  times: { ...fastTimes, refresh: [100, 120], compare: [60, 80] },
})
const accounts = createAccounts(systemClock.now)
const everything = [{ action: 'get', object: '*/*' }]
const tokens: Record<string, string> = {
  '<token>': accounts.add('watcher', everything).token,
  '<token_norights>': accounts.add('norights', []).token,
  '<token_limited>': accounts.add('limited', [{ action: 'get', object: 'other/*' }]).token,
  '<token_deployer>': accounts.add('deployer', [
    { action: '*', object: '*/*' },
    { resource: 'logs', action: 'get', object: '*/*' },
  ]).token,
  '<expired-token>': accounts.add('expired', everything, { expiresInMs: -1 }).token,
}
tokens['<bad-token>'] = `${tokens['<token>']}x`
let server: Awaited<ReturnType<typeof startArgoCdServer>>

beforeAll(async () => {
  server = await startArgoCdServer({ controller, accounts })
  for (const name of ['shop01', 'shop13', 'shop20', 'shop21']) {
    await controller.createApplication({
      name,
      ...(name === 'shop20' ? { project: 'windowed' } : {}),
      ...(name === 'shop13' ? { syncPolicy: {} } : {}),
      sources: [{ repoURL: 'repo', path: 'app', targetRevision: 'main' }],
    })
  }
  await eventually(() => expect(controller.replicas[0]?.resourceVersion()).toBe(controller.store.resourceVersion()))
})

afterAll(async () => {
  await server.close()
  controller.close()
})

function withTokens(value: string): string {
  return value.replace(/<[a-z_-]+>/g, (placeholder) => tokens[placeholder] ?? placeholder)
}

/** Times, resource versions and whole applications differ from run to run; everything else is compared as it is. */
function comparable(body: string): string {
  return body.replace(/iat: [0-9TZ:-]+/g, 'iat: <time>').replace(/"resourceVersion":"\d+"/, '"resourceVersion":"<n>"')
}

type Answer = { status: number; contentType: string | undefined; vary: string | undefined; body: string }

/** `undefined`: no byte within the time. */
function call(
  line: string,
  headers: Record<string, string>,
  body: string,
  patienceMs: number,
): Promise<Answer | undefined> {
  const [method, path] = line.split(' ')
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${server.url}${path}`,
      { method: method ?? 'GET', headers, agent: false },
      (response) => {
        clearTimeout(timer)
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'],
            vary: response.headers.vary,
            body: Buffer.concat(parts).toString(),
          }),
        )
      },
    )
    const timer = setTimeout(() => {
      request.destroy()
      resolve(undefined)
    }, patienceMs)
    request.on('error', (cause) => (request.destroyed ? undefined : reject(cause)))
    request.end(body)
  })
}

describe('the recorded answers of a real server', () => {
  test.for(recordedCalls.filter(({ why }) => !notSimulated.includes(why)))('$why: $request', async (recorded) => {
    const headers = Object.fromEntries(
      Object.entries(recorded.request_headers).map(([name, value]) => [name, withTokens(value)]),
    )
    const answer = await call(
      recorded.request,
      headers,
      recorded.request_body,
      recorded.first_byte_ms === null ? 300 : 5_000,
    )
    if (recorded.status === null) return expect(answer).toBeUndefined()
    expect(answer).toMatchObject({ status: recorded.status })
    expect(answer?.contentType).toBe(recorded.headers['Content-Type'])
    if (/…/.test(recorded.body))
      expect(JSON.parse(answer?.body ?? '').metadata.name).toBe(JSON.parse(`"${recorded.body.slice(21, 27)}"`))
    else expect(comparable(answer?.body ?? '')).toBe(comparable(recorded.body))
  })
})

/** The chunks of a chunked body, each as it was written. */
/** Those that have come whole. */
function chunksOf(raw: Buffer): string[] {
  const chunks: string[] = []
  for (let at = raw.indexOf('\r\n\r\n') + 4; at >= 4; ) {
    const lineEnd = raw.indexOf('\r\n', at)
    const size = Number.parseInt(raw.subarray(at, lineEnd).toString(), 16)
    const end = lineEnd + 2 + size + 2
    if (lineEnd < 0 || end > raw.length) break
    chunks.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size).toString())
    at = end
  }
  return chunks
}

/** The frame around the JSON, without the JSON. */
const shape = (chunk: string) => chunk.replace(/\{.*\}/s, '{}')

/** Reads until it is enough, however slow the machine is, or for `limitMs`. */
function capture(requestText: string, isEnough: (raw: Buffer) => boolean, limitMs = 60_000): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let raw = Buffer.alloc(0)
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () => socket.write(withTokens(requestText)))
    const timer = setTimeout(() => socket.destroy(), limitMs)
    socket.on('data', (part) => {
      raw = Buffer.concat([raw, part])
      if (isEnough(raw)) socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(raw)
    })
  })
}

const never = () => false
const chunks = (count: number) => (raw: Buffer) => chunksOf(raw).length >= count

function recordedFraming(name: string) {
  const { request } = z
    .object({ request: z.string() })
    .parse(JSON.parse(readFileSync(new URL(`19-framing/${name}.timing.json`, recordings), 'utf8')))
  return { request, raw: readFileSync(new URL(`19-framing/${name}.raw`, recordings)) }
}

function headerNames(raw: Buffer): string[] {
  const head = raw.subarray(0, raw.indexOf('\r\n\r\n')).toString().split('\r\n')
  const own = ['connection', 'keep-alive'] // Node's own, which say nothing
  return head
    .map((line) => line.replace(/^Date: .*/, 'Date'))
    .filter((line) => !own.includes(line.split(':')[0]?.toLowerCase() ?? ''))
    .toSorted()
}

describe('the recorded framing of streams', () => {
  test.for([
    { name: 'stream-sse', kept: 2 },
    { name: 'stream-ndjson', kept: 2 },
    { name: 'stream-accept-list', kept: 2 },
    { name: 'stream-sse-error-after-events', kept: 3 },
    { name: 'stream-ndjson-error-after-events', kept: 3 },
  ])('$name is written in the same chunks', async ({ name, kept }) => {
    const recorded = recordedFraming(name)
    const raw = await capture(recorded.request.replace('3S', '100m'), chunks(kept))
    expect(headerNames(raw)).toEqual(headerNames(recorded.raw))
    expect(chunksOf(raw).slice(0, kept).map(shape)).toEqual(chunksOf(recorded.raw).slice(0, kept).map(shape))
  })

  test('filtered objects have the members of the recorded ones, in their order', async () => {
    const recorded = recordedFraming('stream-sse')
    const raw = await capture(recorded.request, chunks(1))
    const [ours = '', theirs = ''] = [raw, recorded.raw].map((bytes) => chunksOf(bytes)[0])
    expect(memberNames(ours)).toEqual(memberNames(theirs))
  })

  test('nothing is sent before the first event of a stream without a burst, not even the status line', async () => {
    const request = `GET /api/v1/stream/applications?resourceVersion=0&projects=windowed HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer <token>\r\n\r\n`
    expect(await capture(request, never, 200)).toHaveLength(0)
    const shop = { namespace: 'argocd', name: 'shop20' }
    const refreshing = setInterval(() => controller.annotateRefresh(shop, 'normal'), 50)
    const raw = await capture(request, chunks(1))
    clearInterval(refreshing)
    expect(raw.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  test('a keepalive is a comment line in a chunk of its own, in event streams only', async () => {
    const keepalive = controller.times().keepalive
    controller.setTimes({ keepalive: 80 })
    const hasKeepalive = (raw: Buffer) => chunksOf(raw).includes(':\n')
    const events = await capture(recordedFraming('stream-sse').request, hasKeepalive)
    const lines = await capture(recordedFraming('stream-ndjson').request, hasKeepalive, 300)
    controller.setTimes({ keepalive })
    expect([hasKeepalive(events), hasKeepalive(lines)]).toEqual([true, false])
  })
})

/** All member names in the order of the text, without those that depend on what the application once was. */
function memberNames(frame: string): string[] {
  const application = JSON.parse(frame.replace(/^data: /, '')).result.application
  const { annotations: _, ...metadata } = application.metadata
  const { operationState, conditions, resources, summary, ...status } = application.status
  const paths = (value: unknown, at: string): string[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).flatMap(([key, inner]) => [`${at}.${key}`, ...paths(inner, `${at}.${key}`)])
      : []
  return paths({ metadata, spec: application.spec, status, members: Object.keys(operationState) }, '')
}
