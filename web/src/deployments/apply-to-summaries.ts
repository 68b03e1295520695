import type { AppSummaries, AppSummary } from '../../../contract/app-summary.ts'
import type { ListedTask } from '../../../contract/task.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'
import { isFinal } from '../../../contract/task-status.ts'
import { newestTasks } from './apply-events.ts'

const maxRecent = 10

/**
 * The summaries as the newest events tell them; what only a new answer holds (counts, usual times) stays. A name may be
 * invented: one without a summary gets one once Argo CD has confirmed it, and its tasks have an address there.
 */
export function applyToSummaries(summaries: AppSummaries, events: readonly TaskEvent[]): AppSummaries {
  const apps = new Map(summaries.apps.map((summary) => [summary.app, summary]))
  const tasks = [...newestTasks(events).values()].filter((task) => apps.has(task.app) || task.app_url !== undefined)
  for (const task of tasks) {
    const known = apps.get(task.app) ?? { app: task.app, counts: {}, recent: [] }
    apps.set(task.app, withTask(known, task))
  }
  return tasks.length === 0 ? summaries : { ...summaries, apps: [...apps.values()] }
}

function withTask(summary: AppSummary, task: ListedTask): AppSummary {
  const { id, status, author, created, cause } = task
  const images = { images: task.images, image_count: task.images.length }
  const ended = isFinal(status) ? { ended: task.updated } : {}
  const isNewest = created >= (summary.latest?.created ?? 0)
  const hasOutcome = status !== 'cancelled' && status !== 'app not found'
  const { latest, ...others } = summary
  const isLastDeployment = status === 'deployed' && created >= (summary.last_deployment?.created ?? 0)
  return {
    ...others,
    // One without an outcome is not the latest. Which is, only the next answer tells.
    ...(latest !== undefined && (hasOutcome || latest.id !== id) && { latest }),
    recent: withOutcome(summary.recent, { id, status }, isNewest),
    ...(isNewest &&
      hasOutcome && { latest: { id, status, ...(cause && { cause }), author, ...images, created, ...ended } }),
    ...(isLastDeployment && { last_deployment: { id, created, ...images } }),
  }
}

type Outcome = AppSummary['recent'][number]

/** A task that is not among them is the newest one if it was created last, else an older one. */
function withOutcome(recent: readonly Outcome[], outcome: Outcome, isNewest: boolean): Outcome[] {
  if (recent.some(({ id }) => id === outcome.id)) return recent.map((one) => (one.id === outcome.id ? outcome : one))
  return isNewest ? [outcome, ...recent].slice(0, maxRecent) : [...recent]
}
