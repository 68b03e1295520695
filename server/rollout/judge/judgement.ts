import type { TaskResult } from '../../deployments/task.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import type { NextAction } from './rollout-observation.ts'

/** What one look means for a task. */
export type Judgement = {
  /** Set once the task is over. */
  readonly end: TaskResult | undefined
  readonly progress: string
  readonly wanted: readonly NextAction[]
  readonly memory: RolloutMemory
  readonly events: readonly NewTaskEvent[]
  /** When to look again although nothing changed. What is wanted wakes the task by itself once it is done. */
  readonly againAtMs: number
}
