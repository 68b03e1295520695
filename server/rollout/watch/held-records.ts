import type { EndedTask } from '../../deployments/task-row.ts'
import type { RolloutWatcherDeps } from './rollout-watcher-deps.ts'

type Records = RolloutWatcherDeps['records']

type Dependencies = {
  readonly tasks: {
    readonly saveProgress: Records['saveProgress']
    finish(...end: Parameters<Records['finish']>): Promise<EndedTask | undefined>
  }
  /** The id of this replica while it is registered. */
  readonly replicaId: () => string | undefined
  readonly onEvents: () => void
  readonly onFinished: (ended: readonly EndedTask[]) => void
}

/** A replica that is not registered writes nothing, even where its tasks have no other owner yet. */
export function createHeldRecords({ tasks, replicaId, onEvents, onFinished }: Dependencies): Records {
  return {
    async saveProgress(claim, change, events) {
      const isHeld = claim.owner === replicaId() && (await tasks.saveProgress(claim, change, events))
      if (isHeld && events.length > 0) onEvents()
      return isHeld
    },
    async finish(claim, end, unsaved) {
      const ended = claim.owner === replicaId() ? await tasks.finish(claim, end, unsaved) : undefined
      if (ended) onFinished([ended])
      return ended !== undefined
    },
  }
}
