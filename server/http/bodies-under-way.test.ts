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

test('one address holds a quarter of what all may; what was announced does not count', async () => {
  const read = createReadBody(4_000)
  const [first, second, other] = [aBody({ 'content-length': '900' }), aBody(), aBody()]
  const slow = read(first.payload, from('a'), sizeOf)
  first.receive(600)
  const rejected = read(second.payload, from('a'), sizeOf)
  second.receive(401)
  await expect(rejected).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '10' } })
  const answered = read(other.payload, from('b'), sizeOf)
  other.receive(900)
  other.end()
  expect(await answered).toBe(900)
  first.receive(300) // the rejected body does not count any more
  first.end()
  expect(await slow).toBe(900)
})

test('all addresses together hold no more than the limit', async () => {
  const read = createReadBody(4_000)
  const slow = ['a', 'b', 'c', 'd'].map((address) => {
    const body = aBody()
    const reading = read(body.payload, from(address), sizeOf)
    body.receive(1_000)
    return { body, reading }
  })
  const one = aBody()
  const rejected = read(one.payload, from('e'), sizeOf)
  one.receive(1)
  await expect(rejected).rejects.toMatchObject({ status: 503, headers: { 'Retry-After': '10' } })
  for (const { body, reading } of slow) {
    body.end()
    expect(await reading).toBe(1_000)
  }
  const later = aBody()
  const answered = read(later.payload, from('e'), sizeOf)
  later.receive(1)
  later.end()
  expect(await answered).toBe(1)
})
