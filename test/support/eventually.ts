import { vi } from 'vitest'

/** Waits until the check throws no more. The limit only ends what hangs: a busy machine takes long. */
export const eventually = <Result>(check: () => Result | Promise<Result>): Promise<Result> =>
  vi.waitFor(check, { timeout: 150_000, interval: 50 })
