import { expect, test } from 'vitest'
import { aTask } from './a-task.ts'
import { taskReport } from './task-report.ts'

test('the report as text holds the reason word for word between the facts', () => {
  const task = aTask({
    status: 'failed',
    cause: 'image_pull',
    unmet_condition: 'healthy',
    created: Date.parse('2026-11-19T14:23:27Z') / 1000,
    updated: Date.parse('2026-11-19T14:26:08Z') / 1000,
    status_reason: 'Pod shop-1: ImagePullBackOff\n  Back-off pulling image "shop:v2"\n',
    commit: 'e5c90b2',
  })
  expect(taskReport(task, 'https://watcher.example/task/1')).toBe(`failed  shop
cause   image_pull: The image cannot be pulled
task    https://watcher.example/task/1

Pod shop-1: ImagePullBackOff
  Back-off pulling image "shop:v2"

Requested  registry.example/shop:v1.2.3
Commit     e5c90b2
Gates      Stopped at gate 5 of 6: Healthy
Ended      19 Nov 2026, 14:26:08 UTC
Took       2 min 41 s, by ada`)
})
