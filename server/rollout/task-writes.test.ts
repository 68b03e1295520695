import { expect, test, vi } from 'vitest'
import { systemClock } from './system-clock.ts'
import { createTaskWrites } from './task-writes.ts'

test('a write that is added right when the last one has ended is done too', async () => {
  for (let microtasks = 0; microtasks < 8; microtasks += 1) {
    const { promise: first, resolve } = Promise.withResolvers<boolean>()
    const second = vi.fn<() => Promise<boolean>>(async () => true)
    const writes = createTaskWrites(
      systemClock,
      () => undefined,
      (error) => expect.fail(String(error)),
    )
    writes.add(() => first)
    resolve(true)
    for (let waited = 0; waited < microtasks; waited += 1) await undefined
    writes.add(second)
    await vi.waitFor(() => expect(second, `after ${microtasks} microtasks`).toHaveBeenCalledOnce(), { timeout: 200 })
  }
})
