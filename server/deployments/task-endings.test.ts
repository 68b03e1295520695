import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createTaskEndings } from './task-endings.ts'

/** Whether it settles within a tenth of a second. */
const isSettled = (waiting: Promise<unknown>) => Promise.race([waiting.then(() => true), delay(100, false)])

function someEndings() {
  const looks: (readonly string[])[] = []
  const endings = createTaskEndings({
    tasks: {
      async ended(ids) {
        looks.push([...ids])
        return []
      },
    },
    wakeUps: { on: () => () => undefined },
    onError: (_message, error) => {
      throw error
    },
  })
  return { endings, looks }
}

test('who has gone waits no longer, and is not looked for', async () => {
  const { endings, looks } = someEndings()
  await using _ = endings
  const gone = new AbortController()
  const waiting = endings.wait('task', 60_000, gone.signal)
  expect(await isSettled(waiting)).toBe(false)
  gone.abort()
  expect(await isSettled(waiting)).toBe(true)
  expect(await isSettled(endings.wait('task', 60_000, gone.signal)), 'gone before it began').toBe(true)
  looks.length = 0
  await delay(1_200)
  expect(looks).toEqual([])
})

test('a service that stops keeps nobody waiting, also who comes after', async () => {
  const { endings } = someEndings()
  const { signal } = new AbortController()
  const waiting = endings.wait('task', 60_000, signal)
  await endings[Symbol.asyncDispose]()
  expect(await isSettled(waiting)).toBe(true)
  expect(await isSettled(endings.wait('task', 60_000, signal))).toBe(true)
})
