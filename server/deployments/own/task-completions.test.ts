import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { WakeUpListener } from '../../ownership/wake-ups.ts'
import { createTaskCompletions } from './task-completions.ts'

/** Whether it settles within a tenth of a second. */
const isSettled = (waiting: Promise<unknown>) => Promise.race([waiting.then(() => true), delay(100, false)])

function someCompletions(hasEnded: (id: string) => boolean = () => false) {
  let tell: WakeUpListener = () => {}
  const looks: (readonly string[])[] = []
  const completions = createTaskCompletions({
    tasks: {
      async ended(ids) {
        looks.push([...ids])
        return ids.filter(hasEnded)
      },
    },
    wakeUps: {
      on(_, listener) {
        tell = listener
        return () => undefined
      },
    },
    onError: (_message, error) => {
      throw error
    },
  })
  return { completions, looks, tell: (ids: readonly string[]) => tell(ids) }
}

test('who has gone waits no longer, and is not looked for', async () => {
  const { completions, looks } = someCompletions()
  await using _ = completions
  const gone = new AbortController()
  const waiting = completions.wait('task', 60_000, gone.signal)
  expect(await isSettled(waiting)).toBe(false)
  gone.abort()
  expect(await isSettled(waiting)).toBe(true)
  expect(await isSettled(completions.wait('task', 60_000, gone.signal)), 'gone before it began').toBe(true)
  looks.length = 0
  await delay(1_200)
  expect(looks).toEqual([])
})

test('only tasks with an update are looked up, however many others are waited for', async () => {
  const { completions, looks, tell } = someCompletions((id) => id === 'task-7')
  await using _ = completions
  const { signal } = new AbortController()
  const waits = Array.from({ length: 100 }, (__, at) => completions.wait(`task-${at}`, 60_000, signal))
  looks.length = 0
  tell(['task-7', 'of somebody else'])
  await waits[7]
  expect(looks).toEqual([['task-7']])
})

test('a service that stops keeps nobody waiting, also who comes after', async () => {
  const { completions } = someCompletions()
  const { signal } = new AbortController()
  const waiting = completions.wait('task', 60_000, signal)
  await completions[Symbol.asyncDispose]()
  expect(await isSettled(waiting)).toBe(true)
  expect(await isSettled(completions.wait('task', 60_000, signal))).toBe(true)
})
