import { expect, test } from 'vitest'
import type { AppSummaries, AppSummary } from '../../../contract/app-summary.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { aTask } from './a-task.ts'
import { applyToSummaries } from './apply-to-summaries.ts'

const event = (task: TaskRecord) => ({ id: 1, task_id: task.id, at: 0, kind: 'note' as const, detail: '', task })
const images = { images: [{ image: 'registry.example/shop', tag: 'v1' }], image_count: 1 }
const shop: AppSummary = {
  app: 'shop',
  counts: { deployed: 1 },
  latest: { id: 'a', status: 'in progress', author: 'ada', ...images, created: 100 },
  recent: [{ id: 'a', status: 'in progress' }],
  median_seconds: 30,
}
const after = (...tasks: TaskRecord[]) => {
  const summaries: AppSummaries = { as_of: 0, days: 30, apps: [shop] }
  return applyToSummaries(summaries, tasks.map(event)).apps
}

test('a task that ends changes where it stands', () => {
  const [summary] = after(aTask({ id: 'a', created: 100, updated: 130, status: 'failed', cause: 'crash_loop' }))
  expect(summary).toMatchObject({
    latest: { id: 'a', status: 'failed', cause: 'crash_loop', ended: 130 },
    recent: [{ id: 'a', status: 'failed' }],
    median_seconds: 30,
  })
  expect(summary?.last_deployment).toBeUndefined()
})

test('a deployed task is the last deployment, with its images', () => {
  const [summary] = after(aTask({ id: 'a', created: 100, status: 'deployed' }))
  expect(summary?.last_deployment).toMatchObject({ id: 'a', images: [{ tag: 'v1.2.3' }], image_count: 1 })
})

test('a newer task comes first; a cancelled one is not the latest, and an older unknown one changes nothing', () => {
  const [summary] = after(
    aTask({ id: 'b', created: 200, status: 'cancelled' }),
    aTask({ id: 'old', created: 50, status: 'failed' }),
  )
  expect(summary?.recent.map(({ id }) => id)).toEqual(['b', 'a'])
  expect(summary?.latest?.id).toBe('a')
})

test('ten outcomes are kept', () => {
  const tasks = Array.from({ length: 12 }, (_, at) => aTask({ id: `n${at}`, created: 200 + at }))
  const [summary] = after(...tasks)
  expect(summary?.recent.map(({ id }) => id)).toEqual(['n11', 'n10', 'n9', 'n8', 'n7', 'n6', 'n5', 'n4', 'n3', 'n2'])
})

test.for(['cancelled', 'app not found'] as const)('the latest that ends as %s is the latest no more', (status) => {
  const [summary] = after(aTask({ id: 'a', created: 100, status }))
  expect(summary?.recent).toEqual([{ id: 'a', status }])
  expect(summary?.latest).toBeUndefined()
})

test('an application without a summary gets one once Argo CD has confirmed it: its name may be invented', () => {
  const invented = aTask({ id: 'x', app: 'new' })
  const confirmed = { ...invented, app_url: 'https://argo-cd.example/applications/argocd/new' }
  expect([invented, confirmed].map((task) => after(task).map(({ app }) => app))).toEqual([['shop'], ['shop', 'new']])
})
