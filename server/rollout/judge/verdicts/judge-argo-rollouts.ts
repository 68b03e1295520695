import type { Culprit } from '../../../../contract/diagnosis.ts'
import type { ObservedResource } from '../../observed/observed-application.ts'
import type { ResourceTree, TreeResource } from '../../observed/observed-resources.ts'
import { isSameResource } from '../../observed/resource-owners.ts'
import type { Evaluation } from '../conditions/evaluate.ts'
import { degradedKey } from '../conditions/suspect.ts'
import type { StateStartTimes } from '../input/rollout-memory.ts'
import { type Verdict, verdictOf } from '../input/verdict.ts'

const group = 'argoproj.io'

/** An aborted Rollout, and whether its abort is known to be this rollout's: `unknown` where its message names no revision. */
type Abort = { readonly verdict: Verdict; readonly isOurs: boolean | 'unknown' }

/**
 * An aborted Rollout does not go on by itself, so it ends a task at once: once its message names the newest revision of a tree
 * that was read after the sync. A lower one is history, and so is an abort from before the task.
 */
export function judgeAbort(evaluation: Evaluation, since: StateStartTimes): Verdict | undefined {
  const abort = abortOf(evaluation, since)
  return abort?.isOurs === true ? abort.verdict : undefined
}

/** What a Rollout that is still Degraded is blamed for. `undefined` where none is aborted, `history` where that says nothing. */
export function degradedByAbort(evaluation: Evaluation, since: StateStartTimes): Verdict | 'history' | undefined {
  const abort = abortOf(evaluation, since)
  if (abort === undefined) return undefined
  return abort.isOurs === false ? 'history' : abort.verdict
}

function abortOf(evaluation: Evaluation, { degraded }: StateStartTimes): Abort | undefined {
  const { application, observation, degradedBefore } = evaluation
  const aborted = application.resources.find(isAborted)
  if (aborted === undefined || degraded === undefined) return undefined
  const { tree } = observation
  const isFresh = tree !== undefined && tree.askedAtMs >= degraded
  const verdict = verdictOfAbort(aborted, tree?.value)
  if (degradedBefore.includes(degradedKey(aborted))) return { verdict, isOurs: false }
  const named = Number(/\bto revision (\d+)/.exec(aborted.healthMessage ?? '')?.[1] ?? Number.NaN)
  const newest = tree?.value === undefined || !isFresh ? undefined : newestRevision(tree.value, aborted)
  if (Number.isNaN(named) || newest === undefined) return { verdict, isOurs: 'unknown' }
  return { verdict, isOurs: named >= newest }
}

const isAborted = ({ group: of, kind, health, healthMessage = '' }: ObservedResource): boolean =>
  of === group && kind === 'Rollout' && health === 'Degraded' && healthMessage.startsWith('RolloutAborted')

function newestRevision({ resources }: ResourceTree, rollout: ObservedResource): number | undefined {
  const node = resources.find((one) => isSameResource(one, rollout))
  const owned = resources.filter(({ kind, owners }) => kind === 'ReplicaSet' && owners.includes(node?.uid ?? ''))
  const revisions = [node, ...owned].flatMap((one) => one?.revision ?? [])
  return revisions.length === 0 ? undefined : Math.max(...revisions)
}

/** `Metric "x" assessed Failed due to …`, in the words of all its versions. */
const failedMetric = /\bmetric "([^"]+)" assessed/i

function verdictOfAbort(rollout: ObservedResource, tree: ResourceTree | undefined): Verdict {
  const { kind, namespace, name, healthMessage: message = '' } = rollout
  const metric = failedMetric.exec(message)?.[1]
  const culprit: Culprit = { kind, namespace, name, reason: 'RolloutAborted', message }
  if (metric === undefined) return verdictOf('rollout_aborted', { culprit })
  const run = tree && failedRun(tree, rollout)
  const blamed = run === undefined ? {} : { kind: run.kind, namespace: run.namespace, name: run.name }
  return verdictOf('analysis_failed', { culprit: { ...culprit, ...blamed, metric } })
}

function failedRun({ resources }: ResourceTree, rollout: ObservedResource): TreeResource | undefined {
  const node = resources.find((one) => isSameResource(one, rollout))
  const owners = new Set(
    resources.filter(({ uid, owners: of }) => uid === node?.uid || of.includes(node?.uid ?? '')).map(({ uid }) => uid),
  )
  return resources.findLast(
    ({ kind, health, owners: of }) =>
      kind === 'AnalysisRun' && health === 'Degraded' && of.some((uid) => owners.has(uid)),
  )
}

/** The paused Rollout of a Suspended application, with what it is paused by. */
export function pausedCulprit({ application }: Pick<Evaluation, 'application'>): Culprit | undefined {
  const paused = application.resources.find(({ health }) => health === 'Suspended')
  if (paused === undefined) return undefined
  const { kind, namespace, name, healthMessage = '' } = paused
  const reason = /\b(CanaryPauseStep|BlueGreenPause)\b/.exec(healthMessage)?.[1]
  return { kind, namespace, name, message: healthMessage, ...(reason === undefined ? {} : { reason }) }
}
