import type { Culprit } from '../diagnosis.ts'
import { describeProbe, probeOf } from './describe-probe.ts'
import type { HeadlineParts } from './fit-headline.ts'

/** The container, or the Pod where its name is not known. */
function subjectOf({ container, is_init: isInit, name }: Culprit): Pick<HeadlineParts, 'kind' | 'name'> {
  if (container !== undefined) return { kind: isInit ? 'Init container' : 'Container', name: container }
  return { kind: `${isInit ? 'An init container' : 'A container'} of Pod`, name }
}

/** A container that ends again and again, by itself or as the kubelet or the kernel kills it. */
export function crashParts(culprit: Culprit): HeadlineParts {
  const { reason, exit_code: code, memory_limit: limit, message, probe = probeOf(message) } = culprit
  const parts = { ...subjectOf(culprit), figures: timesOf(culprit) }
  if (reason?.endsWith('OOMKilled'))
    return { ...parts, does: 'is killed', why: `out of memory${limit === undefined ? '' : ` (limit ${limit})`}` }
  if (probe !== undefined) return { ...parts, does: 'is restarted', why: describeProbe(probe, message) }
  const does = code === 0 ? 'ends on start' : 'crashes on start'
  return { ...parts, does, why: code === undefined ? '' : `exit code ${code}` }
}

/** A container that runs and does not become ready; a liveness probe restarts it. */
export function probeParts(culprit: Culprit): HeadlineParts {
  const { message, probe = probeOf(message) ?? 'readiness' } = culprit
  const does = probe === 'liveness' ? 'is restarted' : 'is not ready'
  return { ...subjectOf(culprit), does, why: describeProbe(probe, message) }
}

/** A container that was never started. */
export function containerParts(culprit: Culprit, why: string): HeadlineParts {
  const { kind, name, reason = '', message } = culprit
  if (/PodSandBox|NetworkNotReady/.test(reason || message)) return { kind, name, does: 'cannot be started', why }
  if (/PostStartHook/.test(reason || message))
    return { ...subjectOf(culprit), does: 'is stopped', why: 'its postStart hook fails' }
  const isCreated = /RunContainerError|StartError/.test(reason || message)
  return { ...subjectOf(culprit), does: isCreated ? 'cannot be started' : 'cannot be created', why }
}

/** `4 times in 2 min`; a single restart says little. */
function timesOf({ restarts = 0, over }: Culprit): string {
  if (restarts < 2) return ''
  const times = `${restarts} times`
  return over === undefined ? times : `${times} in ${roundDuration(over)}`
}

/** With one unit, as the second one would change with each read. */
function roundDuration(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}
