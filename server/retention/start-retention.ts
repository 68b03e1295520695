import { setTimeout as delay } from 'node:timers/promises'
import { repeat } from '../concurrency/repeat.ts'
import { firstPlace, type Place, type RetentionStore } from './retention-store.ts'

const intervalMs = 3_600_000
/** Times as long as the last batch took: what it writes holds up the commits of submissions. */
const restFactor = 12

export type RetentionSettings = { readonly taskDays: number; readonly auditDays: number }

type Deleted = {
  readonly tasks: number
  readonly names: number
  readonly tokens: number
  readonly auditEntries: number
}
type Dependencies = {
  readonly store: RetentionStore
  readonly settings: RetentionSettings
  readonly onDeleted: (deleted: Deleted) => void
  readonly onError: (error: unknown) => void
}

/** Deletes every hour what is older than the settings say, in batches with long rests, so that submissions and verdicts go first. */
export function startRetention({ store, settings, onDeleted, onError }: Dependencies) {
  const stopping = new AbortController()

  const deleteAll = async (batch: (place: Place) => ReturnType<RetentionStore['deleteTasks']>) => {
    let deleted = 0
    for (let place: Place | undefined = firstPlace; place && !stopping.signal.aborted; ) {
      const began = performance.now()
      const done = await batch(place)
      deleted += done?.deleted ?? 0
      place = done?.next
      if (place) await delay((performance.now() - began) * restFactor, undefined, stopping).catch(() => undefined)
    }
    return deleted
  }
  const sweep = async () => {
    const tasks = await deleteAll((place) => store.deleteTasks(settings.taskDays, place))
    const names = await deleteAll(store.deleteNames)
    const tokens = await deleteAll(() => store.deleteTokens(settings.taskDays))
    const auditEntries = await deleteAll(() => store.deleteAudit(settings.auditDays))
    if (tasks + names + tokens + auditEntries > 0) onDeleted({ tasks, names, tokens, auditEntries })
  }
  const sweeping = repeat(sweep, intervalMs, onError)
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await sweeping[Symbol.asyncDispose]()
    },
  }
}
