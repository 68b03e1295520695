import { expect, test } from 'vitest'
import { singleFlight } from './single-flight.ts'

function aRead() {
  const begun: { answer: (value: string) => void; fail: (error: Error) => void }[] = []
  const read = singleFlight(() => new Promise<string>((answer, fail) => void begun.push({ answer, fail })))
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return { begun, read, settled }
}

test('callers that come while a read runs share the next one', async () => {
  const { begun, read, settled } = aRead()
  const first = read()
  const others = [read(), read(), read()]
  expect(begun).toHaveLength(1)
  begun[0]?.answer('before')
  expect(await first).toBe('before')
  await settled()
  expect(begun).toHaveLength(2)
  begun[1]?.answer('after')
  expect(await Promise.all(others)).toEqual(['after', 'after', 'after'])
  const last = read()
  begun[2]?.answer('later')
  expect(await last).toBe('later')
})

test('a read that fails fails for those who shared it, and not for the next', async () => {
  const { begun, read, settled } = aRead()
  const first = read()
  const second = read()
  begun[0]?.fail(new Error('away'))
  await expect(first).rejects.toThrow('away')
  await settled()
  begun[1]?.answer('back')
  expect(await second).toBe('back')
})
