import type { z } from 'zod'
import type { Health, Reachability } from '../../contract/health.ts'

/** Says in the words of argo-watcher's clients which part does not answer. */
export function judgeReachability(health: Health): z.infer<typeof Reachability> {
  const isDatabaseDown = health.database.status === 'down'
  const isControllerDown = health.delivery_controller.status === 'down'
  if (isDatabaseDown && isControllerDown) return { available: false, reason: 'both' }
  if (isDatabaseDown) return { available: false, reason: 'database' }
  return isControllerDown ? { available: false, reason: 'argocd' } : { available: true }
}
