import type { z } from 'zod'
import type { Health, Reachability, streamStates } from '../../contract/health.ts'

type Stream = {
  readonly state: (typeof streamStates)[number]
  /** Why it is not open; undefined while nothing has gone wrong. */
  readonly why: string | undefined
  readonly lastByteAtMs: number | undefined
}

const recentMs = 20_000

/** How the delivery controller is, by what the stream and the last calls have shown. */
export function judgeController(
  stream: Stream,
  unreachable: { readonly why: string } | undefined,
  nowMs: number,
): Health['delivery_controller'] {
  if (unreachable) return { status: 'down', detail: unreachable.why, stream: stream.state }
  if (stream.why === undefined) return { status: 'up', stream: stream.state }
  const wasJustThere = stream.lastByteAtMs !== undefined && nowMs - stream.lastByteAtMs < recentMs
  return { status: wasJustThere ? 'degraded' : 'down', detail: stream.why, stream: stream.state }
}

/** Says in the words of argo-watcher's clients which part does not answer. */
export function judgeReachability(health: Health): z.infer<typeof Reachability> {
  const isDatabaseDown = health.database.status === 'down'
  const isControllerDown = health.delivery_controller.status === 'down'
  if (isDatabaseDown && isControllerDown) return { available: false, reason: 'both' }
  if (isDatabaseDown) return { available: false, reason: 'database' }
  return isControllerDown ? { available: false, reason: 'argocd' } : { available: true }
}
