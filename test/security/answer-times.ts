import { expect } from 'vitest'
import type { Service } from '../support/service.ts'

/** In milliseconds, until a good answer is there. */
export async function timeOfAnswer(service: Service, path: string): Promise<number> {
  const began = performance.now()
  expect((await service.request(path)).status).toBe(200)
  return performance.now() - began
}

/** What an answer may take: so many milliseconds, or ten times as long as that of a service which nobody loads meanwhile. */
export const limitBeside = (untouchedP99: number, limitMs: number) => Math.max(limitMs, 10 * untouchedP99)
