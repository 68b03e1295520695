import { expect, test } from 'vitest'
import { createVirtualWorld } from './virtual-world.ts'

test('what a person must agree to is deleted, and the commit applied, only once they do', async () => {
  const world = createVirtualWorld({ staleLiveCache: 0 })
  const shop = (tag: string) => ({ kind: 'Deployment', image: `registry.example/shop:${tag}` })
  const data = ['a', 'b'].map((name) => ({ kind: 'PersistentVolumeClaim', name, prune: 'confirm' }))
  await world.createApplication('shop', { workloads: [shop('1'), ...data] })
  world.git.push('gitops', { 'shop/workloads.yaml': JSON.stringify({ workloads: [shop('2')] }) })
  world.refresh('shop')
  await world.clock.advance(60_000)
  const { operationState, summary } = world.application('shop').status
  expect(operationState).toMatchObject({
    phase: 'Running',
    message: 'waiting for pruning confirmation of /PersistentVolumeClaim/a and 1 more resources',
  })
  expect(operationState?.syncResult?.resources).toBeUndefined()
  expect(summary.images).toEqual(['registry.example/shop:1'])
  world.controller.approvePruning(world.keyOf('shop'))
  await world.clock.advance(60_000)
  expect(world.application('shop').status).toMatchObject({
    operationState: { phase: 'Succeeded' },
    summary: { images: ['registry.example/shop:2'] },
  })
})
