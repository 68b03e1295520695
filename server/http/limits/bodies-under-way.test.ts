import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { createReadBody } from './bodies-under-way.ts'

/** A body of which as many bytes have come as were pushed. */
function aBody(headers: Record<string, string> = {}) {
  const stream = Object.assign(new Readable({ read: () => undefined }), { headers })
  return {
    payload: stream as unknown as IncomingMessage, // what is read of one
    receive: (bytes: number) => stream.push(Buffer.alloc(bytes)),
    end: () => stream.push(null),
  }
}

const from = (address: string, maxBytes = 1_000) => ({ address, maxBytes })
const sizeOf = (body: Buffer) => body.length

test('a body is read whole', async () => {
  const read = createReadBody()
  const body = aBody()
  const size = read(body.payload, from('a'), sizeOf)
  body.receive(600)
  body.receive(400)
  body.end()
  expect(await size).toBe(1_000)
})

test.for([
  { says: 'announced', headers: { 'content-length': '1001' }, bytes: 0 },
  { says: 'received', headers: {}, bytes: 1_001 },
])('a body that is too large is 413 once that is $says', async ({ headers, bytes }) => {
  const body = aBody(headers)
  const size = createReadBody()(body.payload, from('a'), sizeOf)
  if (bytes > 0) body.receive(bytes)
  await expect(size).rejects.toMatchObject({ status: 413, message: expect.stringContaining('must be at most') })
})

test('beyond a quarter of what all may hold, the largest body of an address is rejected and a small one is read', async () => {
  const read = createReadBody(4_000)
  const [large, small, other] = [aBody({ 'content-length': '900' }), aBody(), aBody()]
  const rejected = read(large.payload, from('a'), sizeOf)
  large.receive(900)
  const answered = read(small.payload, from('a'), sizeOf)
  const foreign = read(other.payload, from('b'), sizeOf)
  other.receive(1_000)
  other.end()
  small.receive(101)
  small.end()
  await expect(rejected).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '10' } })
  expect([await answered, await foreign]).toEqual([101, 1_000])
})

test('what was announced does not count, nor does a body that was rejected', async () => {
  const read = createReadBody(4_000)
  const bodies = Array.from({ length: 3 }, () => aBody({ 'content-length': '1000' }))
  const reading = bodies.map(({ payload }) => read(payload, from('a'), sizeOf))
  for (const body of bodies) body.receive(300)
  for (const body of bodies) body.end()
  expect(await Promise.all(reading)).toEqual([300, 300, 300])
})

test('all addresses together hold no more than the limit', async () => {
  const read = createReadBody(4_000)
  const addresses = ['a', 'b', 'c', 'd']
  const slow = addresses.map((address, at) => {
    const body = aBody()
    const reading = read(body.payload, from(address), sizeOf)
    body.receive(at === 0 ? 1_000 : 999)
    return { body, reading }
  })
  const one = aBody()
  const answered = read(one.payload, from('e'), sizeOf)
  one.receive(4)
  await expect(slow[0]?.reading).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '10' } })
  one.end()
  for (const { body } of slow) body.end()
  expect(await answered).toBe(4)
  expect(await Promise.all(slow.slice(1).map(({ reading }) => reading))).toEqual([999, 999, 999])
})
