import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createFrameReader, type StreamFrame } from './stream-frames.ts'

const folder = new URL('../../../test/fixtures/argocd/', import.meta.url)

/** The body of a raw capture: without the response's head and without the chunk sizes. */
function bodyOf(capture: string): Buffer {
  const raw = readFileSync(new URL(capture, folder))
  let at = raw.indexOf('\r\n\r\n') + 4
  const chunks: Buffer[] = []
  while (at < raw.length) {
    const end = raw.indexOf('\r\n', at)
    const size = Number.parseInt(raw.subarray(at, end).toString('latin1'), 16)
    if (end < 0 || !(size > 0)) break
    chunks.push(raw.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
  return Buffer.concat(chunks)
}

function framesOf(bytes: Uint8Array, pieceLength: number): readonly StreamFrame[] {
  const reader = createFrameReader()
  const frames: StreamFrame[] = []
  for (let at = 0; at < bytes.length; at += pieceLength)
    frames.push(...reader.push(bytes.subarray(at, at + pieceLength)))
  return [...frames, ...reader.end()]
}

const kindsOf = (frames: readonly StreamFrame[]) => frames.map(({ kind }) => kind)

describe('captures of real streams', () => {
  const captures = ['19-framing', '24-argocd-server-stop'].flatMap((name) =>
    readdirSync(new URL(name, folder))
      .filter((file) => file.endsWith('.raw') && file.startsWith('stream'))
      .map((file) => `${name}/${file}`),
  )

  test.for(captures)('%s reads the same in whatever pieces it arrives', (capture) => {
    const body = bodyOf(capture)
    const whole = framesOf(body, body.length)
    expect(whole.length).toBeGreaterThan(0)
    expect(kindsOf(whole)).not.toContain('unreadable')
    for (const pieceLength of [1, 2, 7, 1_000]) expect(framesOf(body, pieceLength)).toEqual(whole)
  })

  test.for([
    { capture: '19-framing/stream-sse.raw', kinds: ['seen', 'keepalive', 'keepalive', 'seen', 'seen'] },
    { capture: '19-framing/stream-ndjson.raw', kinds: ['seen', 'seen', 'seen'] },
    { capture: '19-framing/stream-sse-error-after-events.raw', kinds: ['seen', 'error'] },
    { capture: '19-framing/stream-ndjson-error-after-events.raw', kinds: ['seen', 'error'] },
  ])('$capture holds $kinds', ({ capture, kinds }) => {
    expect(kindsOf(framesOf(bodyOf(capture), 512))).toEqual(kinds)
  })
})

describe('what is no event', () => {
  test.for([
    { bytes: 'data: {}\n\n\n', kinds: ['unreadable'] },
    { bytes: 'data: {"result":', kinds: ['unreadable'] },
    { bytes: '<html>\n', kinds: ['unreadable'] },
    { bytes: ':\n\n:\n', kinds: ['keepalive', 'keepalive'] },
    { bytes: '{"error":{"message":"gone"}}', kinds: ['error'] },
    { bytes: '{"code":16,"message":"invalid session"}\n', kinds: ['error'] },
    {
      bytes: 'data: {"result":{"type":"ADDED","application":{"metadata":{"name":"x"}}}} \n\n\n',
      kinds: ['unreadable'],
    },
  ])('$bytes is read as $kinds', ({ bytes, kinds }) => {
    expect(kindsOf(framesOf(Buffer.from(bytes), 3))).toEqual(kinds)
  })

  test('a line above 16 MiB is dropped and the next one is read', () => {
    const reader = createFrameReader()
    const megabyte = Buffer.alloc(1024 * 1024, 'x')
    for (let sent = 0; sent < 17; sent += 1) expect([...reader.push(megabyte)]).toEqual([])
    expect(kindsOf([...reader.push(Buffer.from('\n:\n'))])).toEqual(['unreadable', 'keepalive'])
  })
})
