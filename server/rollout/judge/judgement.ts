import type { Diagnosis } from '../../../contract/diagnosis.ts'
import type { TaskResult } from '../../deployments/task.ts'
import type { NewTaskEvent } from '../../timeline/task-event.ts'
import type { RolloutMemory } from './rollout-memory.ts'
import type { NextAction } from './rollout-observation.ts'

/** What one evaluation means for a task. */
export type Judgement = {
  /** Set once the task is over. */
  readonly end: TaskResult | undefined
  /** What a task that goes on waits for, in a sentence. */
  readonly progress: string
  /** Where something of it is new: all that the sentence is made of. */
  readonly diagnosis: Diagnosis | undefined
  readonly actions: readonly NextAction[]
  readonly memory: RolloutMemory
  readonly events: readonly NewTaskEvent[]
  /** The Pods that stand in the way of this very task. */
  readonly badPodUids: readonly string[]
  /** When to judge again although nothing changed. An action wakes the task by itself once it is done. */
  readonly againAtMs: number
}
