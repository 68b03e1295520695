import type { TaskRecord } from '../../../contract/task.ts'
import type { TabMood } from '../ui/tab.ts'
import { changeText, versionChange } from '../ui/version-change.ts'

const signs: Readonly<Partial<Record<TaskRecord['status'], string>>> = { deployed: '✓ ', failed: '✕ ', aborted: '✕ ' }

/** What a tab says of a task: `shop v2 in progress`, `✕ shop v2 failed`. What is over has no sign. */
export function taskTab(task: Pick<TaskRecord, 'app' | 'images' | 'status' | 'deployed_since'>): {
  readonly title: string
  readonly mood?: TabMood
} {
  const { app, images, status, deployed_since: since } = task
  const isOver = since !== undefined && status !== 'in progress'
  const title = `${isOver ? '' : (signs[status] ?? '')}${app} ${changeText(versionChange(undefined, images))} ${status}`
  if (status === 'in progress') return { title, mood: 'moving' }
  return !isOver && (status === 'failed' || status === 'aborted') ? { title, mood: 'bad' } : { title }
}
