import { expect, test } from 'vitest'
import { tabTitle } from '../ui/tab.ts'
import { taskTab } from './task-tab.ts'

const images = [{ image: 'registry.example/shop', tag: 'v2' }]
const since = { id: '2', ended: 1, images }

test.for([
  [{ status: 'in progress' as const }, 'shop v2 in progress', 'moving'],
  [{ status: 'deployed' as const }, '✓ shop v2 deployed', undefined],
  [{ status: 'failed' as const }, '✕ shop v2 failed', 'bad'],
  [{ status: 'aborted' as const }, '✕ shop v2 aborted', 'bad'],
  [{ status: 'failed' as const, deployed_since: since }, 'shop v2 failed', undefined],
  [{ status: 'cancelled' as const }, 'shop v2 cancelled', undefined],
  [{ status: 'app not found' as const }, 'shop v2 app not found', undefined],
] as const)('the tab of %j says "%s"', ([fields, title, mood]) => {
  expect(taskTab({ app: 'shop', images, ...fields })).toEqual(mood === undefined ? { title } : { title, mood })
})

test('entries that wait are counted in front', () => {
  expect(tabTitle('Deployments', '')).toBe('Deployments · Deployment Watcher')
  expect(tabTitle('Deployments', '3')).toBe('(3) Deployments · Deployment Watcher')
})
