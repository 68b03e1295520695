import { type Application, type ApplicationKey, inFieldOrder, keyOf } from './application.ts'
import { type Clock, kubernetesTime } from './clock.ts'
import { type Random, randomUuid } from './random.ts'

export type StoreEvent = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; application: Application }

export type NewApplication = Pick<Application, 'spec' | 'status'> & {
  metadata: Pick<Application['metadata'], 'name' | 'namespace' | 'labels' | 'annotations' | 'finalizers'>
}

export type ObjectStore = ReturnType<typeof createObjectStore>

/** Kubernetes' store: one global resource version, whole objects, one event for each write that changes something. */
export function createObjectStore({ clock, random }: { clock: Clock; random: Random }) {
  const objects = new Map<string, Application>()
  const listeners = new Set<(event: StoreEvent) => void>()
  let resourceVersion = 800

  const nextVersion = () => {
    resourceVersion += 1 + Math.floor(random() * 3)
    return String(resourceVersion)
  }

  function publish(event: StoreEvent): Application {
    for (const listener of listeners) listener(event)
    return event.application
  }

  return {
    get: (key: ApplicationKey): Application | undefined => objects.get(keyOf(key)),

    list: (): readonly Application[] => [...objects.values()],

    resourceVersion: () => String(resourceVersion),

    create({ metadata, spec, status }: NewApplication): Application {
      if (objects.has(keyOf(metadata))) throw new Error(`Application ${keyOf(metadata)} already exists`)
      const application = inFieldOrder({
        metadata: {
          ...metadata,
          uid: randomUuid(random),
          resourceVersion: nextVersion(),
          generation: 1,
          creationTimestamp: kubernetesTime(clock.now()),
        },
        spec,
        status,
      })
      objects.set(keyOf(metadata), application)
      return publish({ type: 'ADDED', application })
    },

    /** Replaces the object by what `change` makes of it; nothing is written and no watcher notified if that is the same. */
    update(key: ApplicationKey, change: (current: Application) => Application): Application | undefined {
      const current = objects.get(keyOf(key))
      if (!current) return undefined
      const wanted = inFieldOrder(change(current))
      if (JSON.stringify(wanted) === JSON.stringify(current)) return current
      const application = { ...wanted, metadata: { ...wanted.metadata, ...versioned(current, wanted, nextVersion()) } }
      objects.set(keyOf(key), application)
      return publish({ type: 'MODIFIED', application })
    },

    remove(key: ApplicationKey): void {
      const current = objects.get(keyOf(key))
      if (!current) return
      objects.delete(keyOf(key))
      const metadata = { ...current.metadata, resourceVersion: nextVersion() }
      publish({ type: 'DELETED', application: { ...current, metadata } })
    },

    subscribe(listener: (event: StoreEvent) => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** There is no status subresource, so every change outside the metadata counts as a new generation. */
function versioned(current: Application, wanted: Application, resourceVersion: string) {
  const sameContent =
    JSON.stringify([current.spec, current.status, current.operation]) ===
    JSON.stringify([wanted.spec, wanted.status, wanted.operation])
  return { resourceVersion, generation: current.metadata.generation + (sameContent ? 0 : 1) }
}
