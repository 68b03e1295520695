import { expect, test } from 'vitest'
import { anApplication, aSha } from '../../../../test/support/application-builder.ts'
import { updateWorkloads } from './applied-images.ts'

const deployment = (name: string, tag: string) => ({
  kind: 'Deployment',
  name,
  images: [`registry.example/shop:${tag}`],
})
const shop = deployment('shop', 'v2')
const worker = deployment('worker', 'v1')
const synced = (resources: readonly object[], more: object = {}) => {
  const syncResult = { revision: aSha('c'), resources }
  const isThere = ['shop', 'worker'].map((name) => ({ group: 'apps', kind: 'Deployment', name, status: 'Synced' }))
  const operationState = { phase: 'Succeeded', syncResult, ...more }
  return anApplication({ status: { resources: isThere }, operationState })
}
const known = updateWorkloads([], synced([shop, worker]))
const newWorker = deployment('worker', 'v2')

test.for([
  { name: 'a sync of all', application: synced([shop, newWorker]), expected: [shop, newWorker] },
  { name: 'a correction of a drift', application: synced([newWorker]), expected: [newWorker, shop] },
  { name: 'a sync of no workload', application: synced([{ kind: 'Service', name: 'shop' }]), expected: [shop, worker] },
  {
    name: 'a dry run',
    application: synced([shop, newWorker], { operation: { sync: { dryRun: true } } }),
    expected: [shop, worker],
  },
])('what was applied last is known after $name', ({ application, expected }) => {
  expect(updateWorkloads(known, application)).toMatchObject(expected)
})
