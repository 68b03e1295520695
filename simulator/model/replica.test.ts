import { describe, expect, test } from 'vitest'
import type { StoreEvent } from './object-store.ts'
import { createVirtualWorld } from './virtual-world.ts'

async function watched(options: Parameters<typeof createVirtualWorld>[0] = {}) {
  const world = createVirtualWorld(options)
  await world.createApplication('shop')
  await world.clock.advance(1_000)
  const events: StoreEvent[] = []
  const [replica] = world.controller.replicas
  if (!replica) throw new Error('There is no replica')
  replica.subscribe((event) => events.push(event))
  const label = (value: string) =>
    world.controller.editApplication(world.keyOf('shop'), (current) => ({
      ...current,
      metadata: { ...current.metadata, labels: { value } },
    }))
  const labels = () => events.map(({ application }) => application.metadata.labels?.value)
  return { world, replica, events, label, labels }
}

describe('a replica', () => {
  test('follows the store with its lag, in order', async () => {
    const { world, replica, label, labels } = await watched({ times: { informerLag: [100, 100] } })
    label('a')
    label('b')
    await world.clock.advance(50)
    expect(labels()).toEqual([])
    expect(replica.get('argocd/shop')?.metadata.labels).toBeUndefined()
    await world.clock.advance(100)
    expect(labels()).toEqual(['a', 'b'])
  })

  test('loses events for its subscribers, not for its cache', async () => {
    const { world, replica, label, labels } = await watched()
    replica.loseEvents(1)
    label('a')
    await world.clock.advance(1_000)
    expect(replica.get('argocd/shop')?.metadata.labels).toEqual({ value: 'a' })
    label('b')
    await world.clock.advance(1_000)
    expect(labels()).toEqual(['b'])
  })

  test('tells an event twice', async () => {
    const { world, replica, label, labels } = await watched()
    replica.duplicateEvents(1)
    label('a')
    await world.clock.advance(1_000)
    expect(labels()).toEqual(['a', 'a'])
  })

  test('a re-list tells only the last state, and nothing of a deletion', async () => {
    const { world, replica, label, labels, events } = await watched()
    replica.hold()
    label('a')
    label('b')
    await world.clock.advance(1_000)
    replica.release('relist')
    expect(labels()).toEqual(['b'])
    replica.hold()
    world.controller.editApplication(world.keyOf('shop'), (current) => ({
      ...current,
      metadata: { ...current.metadata, finalizers: undefined },
    }))
    await world.run(world.controller.deleteApplication(world.keyOf('shop')))
    replica.release('relist')
    await world.clock.advance(1_000)
    expect(replica.get('argocd/shop')).toBeUndefined()
    expect(events.some(({ type }) => type === 'DELETED')).toBe(false)
  })

  test('two replicas may be at different states', async () => {
    const { world, label } = await watched({ replicas: 2 })
    const [first, second] = world.controller.replicas
    second?.hold()
    label('a')
    await world.clock.advance(1_000)
    expect(first?.get('argocd/shop')?.metadata.labels).toEqual({ value: 'a' })
    expect(second?.get('argocd/shop')?.metadata.labels).toBeUndefined()
  })
})
