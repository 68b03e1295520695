import type { TaskEvent } from '../contract/task-event.ts'
import type { Outcome } from './follow/outcome.ts'
import type { Variables } from './input/ci-defaults.ts'
import type { Output } from './output/screen.ts'

/** What a command works with: the process, or a test's stand-in for it. */
export type Run = {
  readonly variables: Variables
  readonly stdout: Output
  readonly stderr: Output
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly interrupted: AbortSignal
  readonly listener?: Listener
}

/** Hears as values what `deploy` and `wait` print. */
export type Listener = {
  /** The task of this id exists, and is followed. */
  readonly onTask: (id: string) => void
  /** Of any task that is followed; none comes while a task is polled. */
  readonly onEvent: (event: TaskEvent) => void
  /** What became of each deployment, also of an interrupted run. `pageOf`: the address of a task's page. */
  readonly onEnd: (outcomes: readonly Outcome[], pageOf: (id: string) => string) => void
}
