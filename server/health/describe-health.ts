import type { z } from 'zod'
import type { Health, Reachability, streamStates } from '../../contract/health.ts'

type Stream = {
  readonly state: (typeof streamStates)[number]
  /** Why it is not open; undefined while nothing has gone wrong. */
  readonly why: string | undefined
}

/** How the delivery controller is. Without a stream it is read every 15 s: only a failed probe makes it `down`. */
export function describeController(
  stream: Stream,
  unreachable: { readonly why: string } | undefined,
): Health['delivery_controller'] {
  if (unreachable) return { status: 'down', detail: unreachable.why, stream: stream.state }
  if (stream.why === undefined) return { status: 'up', stream: stream.state }
  return { status: 'degraded', detail: stream.why, stream: stream.state }
}

/** Says in the words of argo-watcher's clients which part does not answer. */
export function describeReachability(health: Health): z.infer<typeof Reachability> {
  const isDatabaseDown = health.database.status === 'down'
  const isControllerDown = health.delivery_controller.status === 'down'
  if (isDatabaseDown && isControllerDown) return { available: false, reason: 'both' }
  if (isDatabaseDown) return { available: false, reason: 'database' }
  return isControllerDown ? { available: false, reason: 'argocd' } : { available: true }
}
