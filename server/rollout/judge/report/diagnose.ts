import type { NextStep } from '../../../../contract/causes.ts'
import { conditionNames } from '../../../../contract/conditions.ts'
import type { Condition, Culprit, Diagnosis } from '../../../../contract/diagnosis.ts'
import type { FinalStatus } from '../../../../contract/task-status.ts'
import { withHeadline } from '../../../../contract/text/headline.ts'
import { nextStepsFor } from '../../../../contract/text/next-steps.ts'
import { boundedLine, renderReport, renderSentence } from '../../../../contract/text/render-diagnosis.ts'
import type { TaskResult } from '../../../deployments/task.ts'
import type { ObservedApplication } from '../../observed/observed-application.ts'
import { isPodEnding, isPodReady, type ObservedPod } from '../../observed/observed-resources.ts'
import type { Evaluation } from '../conditions/evaluate.ts'
import { imagesOf, isImageRunning } from '../conditions/image-reference.ts'
import { isAwaitingCommit, type JudgedTask, secondsAt } from '../input/judge-input.ts'
import type { ConditionTimes, RolloutMemory } from '../input/rollout-memory.ts'
import type { RolloutObservation } from '../input/rollout-observation.ts'
import type { RolloutSettings } from '../input/rollout-settings.ts'
import { note, type Verdict } from '../input/verdict.ts'
import { evidenceOf, situationOf } from './evidence.ts'

type ConditionSince = RolloutMemory['conditionSince']

/** Why a task is where it is. `verdict`: what holds it up, or how it ends. */
export function diagnose(evaluation: Evaluation, since: ConditionSince, verdict: Verdict | undefined): Diagnosis {
  const { application, settings, observation } = evaluation
  const { kind = 'override' } = observation.annotations.writeBackTarget ?? {}
  const overrideFilePrefix = kind === 'override' ? settings.overrideFilePrefix : undefined
  return withHeadline({
    conditions: conditionsOf(evaluation, since),
    ...verdictParts(verdict),
    ...(verdict?.culprit === undefined ? {} : impactOf(evaluation)),
    evidence: evidenceOf(evaluation, verdict),
    next_steps: [...nextStepsOf(verdict, overrideFilePrefix)],
    links: linksTo(application, settings),
  })
}

/** A verdict's own diagnosis: what was committed or not, and the notes of the conditions, are part of it. */
export function diagnoseEnd(evaluation: Evaluation, since: ConditionSince, verdict: Verdict): Diagnosis {
  const { conditions, observation } = evaluation
  if (verdict.status === 'deployed') {
    const notes = conditions.all.flatMap((one) => (one.note === undefined ? [] : [note(one.note)]))
    return { ...diagnose(evaluation, since, verdict), evidence: notes }
  }
  const { writeBack } = observation
  const isSaid = writeBack.kind === 'monitor' && verdict.cause === 'annotation_invalid'
  const isNoted = writeBack.kind === 'monitor' && writeBack.note !== '' && verdict.status !== 'cancelled' && !isSaid
  const evidence = [
    ...(isNoted ? [{ kind: 'not_committed', text: boundedLine(writeBack.note) } as const] : []),
    ...(verdict.evidence ?? []),
  ]
  return diagnose(evaluation, since, { ...verdict, evidence })
}

/** Of a task whose application was never seen, or whose write-back alone decides. */
export function diagnoseUnseen(
  task: JudgedTask,
  observation: RolloutObservation,
  settings: RolloutSettings,
  verdict: Verdict | undefined,
  isAwaited = false,
): Diagnosis {
  return withHeadline({
    conditions: isAwaited ? withoutApplication(task) : unknownConditions(task),
    ...verdictParts(verdict),
    evidence: [...situationOf(task, observation), ...(verdict?.evidence ?? [])],
    next_steps: [...nextStepsOf(verdict)],
    links: linksTo(observation.known.newest, settings),
  })
}

/** How a task ends, with the text that argo-watcher's clients read. */
export function resultOf(status: FinalStatus, diagnosis: Diagnosis, task: JudgedTask, nowMs: number): TaskResult {
  const reason = renderReport(status, diagnosis, secondsAt(task, nowMs))
  const { cause } = diagnosis
  return { status, ...(cause === undefined ? {} : { cause }), ...(reason === '' ? {} : { reason }), diagnosis }
}

export const renderProgress = (diagnosis: Diagnosis) => renderSentence('in progress', diagnosis, 0)

const linksTo = (application: ObservedApplication | undefined, { linkBase }: RolloutSettings): Diagnosis['links'] =>
  application === undefined ? [] : [{ kind: 'application', url: boundedLine(applicationUrl(linkBase, application)) }]

export const applicationUrl = (linkBase: string, { namespace, name }: ObservedApplication) =>
  `${linkBase.replace(/(?<!\/)\/+$/, '')}/applications/${namespace}/${name}`

function conditionsOf(evaluation: Evaluation, since: ConditionSince): Condition[] {
  const { conditions, nowMs, task } = evaluation
  // What the application shows before the commit has nothing to do with this task.
  if (isAwaitingCommit(evaluation)) return unknownConditions(task)
  return conditions.all.map(({ name, state, expected, found }) => ({
    name,
    state,
    ...timesOf(task, since.get(name), nowMs),
    ...(expected === undefined ? {} : { expected: boundedLine(expected) }),
    ...(found === undefined ? {} : { found: boundedLine(found) }),
  }))
}

function timesOf(task: JudgedTask, times: ConditionTimes | undefined, nowMs: number) {
  const { sinceMs = nowMs, firstMetMs } = times ?? {}
  const firstMet = firstMetMs === undefined ? {} : { first_met: secondsAt(task, firstMetMs) }
  return { since: secondsAt(task, sinceMs), ...firstMet }
}

/** Argo CD says that there is no such application yet. */
const withoutApplication = (task: JudgedTask): Condition[] =>
  unknownConditions(task).map((one) => (one.name === 'alive' ? { ...one, state: 'not_met' } : one))

const unknownConditions = ({ createdSeconds }: JudgedTask): Condition[] =>
  conditionNames.map((name) => ({ name, state: 'unknown', since: createdSeconds }))

function verdictParts(verdict: Verdict | undefined): Pick<Diagnosis, 'cause' | 'culprit' | 'superseded_by'> {
  if (verdict === undefined) return {}
  const { cause, culprit, supersededBy } = verdict
  return {
    ...(cause === undefined ? {} : { cause }),
    ...(culprit === undefined ? {} : { culprit: boundedCulprit(culprit) }),
    ...(supersededBy === undefined ? {} : { superseded_by: supersededBy }),
  }
}

const boundedCulprit = ({ kind, namespace, name, message, ...figures }: Culprit): Culprit => ({
  kind: boundedLine(kind),
  namespace: boundedLine(namespace),
  name: boundedLine(name),
  ...figures,
  message: boundedLine(message),
})

/** `overrideFilePrefix`: undefined where none was written. */
function nextStepsOf(verdict: Verdict | undefined, overrideFilePrefix = 'argocd'): readonly NextStep[] {
  if (verdict?.cause === undefined) return []
  const { cause, culprit } = verdict
  const steps = nextStepsFor(cause, culprit)
  if (cause !== 'commit_without_effect' || overrideFilePrefix === 'argocd') return steps
  const text = `Set OVERRIDE_FILE_PREFIX to "argocd": it is "${overrideFilePrefix}", which Argo CD does not read.`
  return [{ actor: 'operator', text }, ...steps]
}

/** Whether Pods of the version before still serve, where Pods were read. */
function impactOf({ task, observation: { tree }, settings }: Evaluation): Pick<Diagnosis, 'impact'> {
  if (tree?.value === undefined || tree.value.pods.length === 0) return {}
  const isOld = (pod: ObservedPod) =>
    !isPodEnding(pod) &&
    task.images.some((image) => {
      const ofRepository = imagesOf(image, pod.images, settings)
      return ofRepository.length > 0 && !isImageRunning(image, ofRepository, settings)
    })
  const old = tree.value.pods.filter(isOld)
  const ready = old.filter(isPodReady)
  return { impact: { old_pods_ready: ready.length, old_pods: old.length } }
}
