import { type Application, keyOf } from './application.ts'
import type { Clock } from './clock.ts'
import type { ObjectStore, StoreEvent } from './object-store.ts'
import { pickFrom, type Random, type Range } from './random.ts'

export type Replica = ReturnType<typeof createReplica>

/** The cache of one API server replica: it follows the store with a lag, and everything but GET is answered from it. */
export function createReplica(deps: { store: ObjectStore; clock: Clock; random: Random; lag: () => Range }) {
  const { store, clock, random } = deps
  const cache = new Map<string, Application>(
    store.list().map((application) => [keyOf(application.metadata), application]),
  )
  const listeners = new Set<(event: StoreEvent) => void>()
  const waiting: StoreEvent[] = []
  let resourceVersion = store.resourceVersion()
  let isHeld = false
  let lastDueAt = 0
  let toLose = 0
  let lastLostAt: number | undefined
  let toDuplicate = 0

  function apply(event: StoreEvent): void {
    const key = keyOf(event.application.metadata)
    const { resourceVersion: version } = event.application.metadata
    resourceVersion = version
    if (event.type === 'DELETED') cache.delete(key)
    else cache.set(key, event.application)
    if (toLose > 0) {
      toLose--
      lastLostAt = clock.now()
      return
    }
    tell(event)
    if (toDuplicate > 0) {
      toDuplicate--
      tell(event)
    }
  }

  function tell(event: StoreEvent): void {
    for (const listener of listeners) listener(event)
  }

  function drainOne(): void {
    if (isHeld) return
    const event = waiting.shift()
    if (event) apply(event)
  }

  const unsubscribe = store.subscribe((event) => {
    waiting.push(event)
    const dueAt = Math.max(lastDueAt, clock.now() + pickFrom(random, deps.lag()))
    lastDueAt = dueAt
    clock.setTimer(dueAt - clock.now(), drainOne)
  })

  return {
    get: (key: string) => cache.get(key),
    list: (): readonly Application[] => [...cache.values()].sort(byNamespaceAndName),
    resourceVersion: () => resourceVersion,
    subscribe(listener: (event: StoreEvent) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** The next events change the cache but reach no subscriber. */
    loseEvents(count: number): void {
      toLose += count
    },
    /** When the last event was lost, by the clock. */
    lastLostAt: () => lastLostAt,
    duplicateEvents(count: number): void {
      toDuplicate += count
    },
    /** The cache stands still, and with it List and every stream. */
    hold(): void {
      isHeld = true
    },
    /** Catches up: event by event, or as a re-list does it (last state only, deletions unnoticed by subscribers). */
    release(how: 'events' | 'relist'): void {
      isHeld = false
      const events = waiting.splice(0)
      if (how === 'events') for (const event of events) apply(event)
      else relist(events)
    },
    close: unsubscribe,
  }

  function relist(events: readonly StoreEvent[]): void {
    const last = new Map(events.map((event) => [keyOf(event.application.metadata), event]))
    for (const event of last.values()) {
      if (event.type === 'DELETED') cache.delete(keyOf(event.application.metadata))
      else apply({ ...event, type: cache.has(keyOf(event.application.metadata)) ? 'MODIFIED' : 'ADDED' })
    }
    resourceVersion = store.resourceVersion()
  }
}

function byNamespaceAndName(a: Application, b: Application): number {
  return keyOf(a.metadata) < keyOf(b.metadata) ? -1 : 1
}
