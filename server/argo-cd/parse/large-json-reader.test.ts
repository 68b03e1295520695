import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { aRawApplication } from '../../../test/support/application-builder.ts'
import { createLargeJsonReader } from './large-json-reader.ts'
import { parseAnswer } from './parse-answer.ts'
import { createFrameReader } from './stream-frames.ts'

const padding = 'x'.repeat(10_000)
const named = (name: string) => aRawApplication({ metadata: { name, managedFields: [{ padding }] } })
const listOf = (count: number) => ({
  metadata: { resourceVersion: '77' },
  items: Array.from({ length: count }, (_, index) => named(`app-${index}`)),
})
const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value))

/** How often the main thread got its turn while this went on. */
async function turnsDuring(run: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await run()
  isOver = true
  return turns
}

test('a List of 5,000 applications and 50 MB is read while the main thread goes on, and says the same', async () => {
  await using reader = createLargeJsonReader()
  const raw = listOf(5_000)
  const bytes = bytesOf(raw)
  expect(bytes.byteLength).toBeGreaterThan(50_000_000)
  await reader.parseAnswer('session', [bytesOf({})]) // the thread has started
  const delays = monitorEventLoopDelay({ resolution: 5 })
  delays.enable()
  let list: unknown
  const turns = await turnsDuring(async () => {
    list = await reader.parseAnswer('list', [bytes])
  })
  delays.disable()
  console.info(`50 MB: event loop delay p99 ${Math.round(delays.percentile(99) / 1e6)} ms, ${turns} turns meanwhile`)
  expect(list).toEqual(parseAnswer('list', raw))
  expect(turns).toBeGreaterThan(100)
})

test('one application, and a line of the stream', async () => {
  await using reader = createLargeJsonReader()
  const raw = aRawApplication({ metadata: { managedFields: ['y'.repeat(2_000_000)] } })
  expect(await reader.parseAnswer('application', [bytesOf(raw)])).toEqual(parseAnswer('application', raw))
  const [frame] = createFrameReader().push(
    Buffer.from(`data: ${JSON.stringify({ result: { type: 'MODIFIED', application: raw } })}\n`),
  )
  if (frame?.kind !== 'large') throw new Error('a line of 2 MB is large')
  expect(await reader.parseFrame(frame.line)).toEqual({ kind: 'seen', application: parseAnswer('application', raw) })
})

test('what is no JSON is undefined, and answers come in the order of their questions', async () => {
  await using reader = createLargeJsonReader()
  const answers = await Promise.all([
    reader.parseAnswer('list', [Buffer.from('<html>')]),
    reader.parseAnswer('list', [bytesOf(listOf(0))]),
    reader.parseAnswer('session', [Buffer.from('{"logged'), Buffer.from('In":true}')]),
    reader.parseFrame(Buffer.from('data: {')),
    reader.parseAnswer('application', [Buffer.from('['.repeat(5_000_000))]),
  ])
  const list = { version: 77, applications: [] }
  expect(answers).toEqual([undefined, list, { isLoggedIn: true }, { kind: 'unreadable' }, undefined])
})

test('questions that are open when the reader closes are answered', async () => {
  const reader = createLargeJsonReader()
  const answer = reader.parseAnswer('list', [bytesOf(listOf(500))])
  await reader[Symbol.asyncDispose]()
  expect(await answer).toBeUndefined()
  expect(await reader.parseAnswer('session', [])).toBeUndefined()
})
