import type { Variables } from './input/ci-defaults.ts'
import type { Output } from './output/screen.ts'

/** What a command works with: the process, or a test's stand-in for it. */
export type Run = {
  readonly variables: Variables
  readonly stdout: Output
  readonly stderr: Output
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly interrupted: AbortSignal
}
