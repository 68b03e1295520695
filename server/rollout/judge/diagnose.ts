import { type Cause, causeOf, type NextStep } from '../../../contract/causes.ts'
import { conditionNames } from '../../../contract/conditions.ts'
import type { Condition, Culprit, Diagnosis, Evidence, Pod } from '../../../contract/diagnosis.ts'
import { boundedLine, renderReport, renderSentence } from '../../../contract/render-diagnosis.ts'
import type { FinalStatus } from '../../../contract/task-status.ts'
import type { TaskResult } from '../../deployments/task.ts'
import { isOperationActive } from './conditions.ts'
import type { Evaluation } from './evaluation.ts'
import { imagesOf, isImageRunning } from './image-reference.ts'
import { imageText } from './images-condition.ts'
import { appliedImages } from './last-operation.ts'
import type { ObservedApplication } from './observed-application.ts'
import type { ObservedPod, ResourceTree } from './observed-resources.ts'
import { shortRevision } from './revision-condition.ts'
import type { RolloutObservation } from './rollout-observation.ts'
import type { RolloutSettings } from './rollout-settings.ts'
import { isAwaitingCommit, type JudgedTask } from './snapshot.ts'
import { isFailedHook } from './sync-failure.ts'
import type { Verdict } from './verdict.ts'

const maxItems = 10
const maxEvidenceBytes = 32_768
const maxEvents = 5

/**
 * Why a task is where it is. `verdict`: what holds it up, or how it ends. Texts have at most 600 characters, lists 10 items, and
 * all evidence 32 KiB.
 */
export function diagnose(evaluation: Evaluation, verdict: Verdict | undefined): Diagnosis {
  const { task, application, observation, settings } = evaluation
  return {
    conditions: conditionsOf(evaluation),
    ...verdictParts(verdict),
    ...(verdict?.culprit === undefined ? {} : impactOf(evaluation)),
    evidence: fitting(
      [...situationOf(task, observation), ...(verdict?.evidence ?? []), ...observationsOf(evaluation)],
      maxEvidenceBytes,
    ),
    next_steps: [...nextStepsOf(verdict?.cause, settings.overrideFilePrefix)],
    links: linksTo(application, settings),
  }
}

/** A verdict's own diagnosis: what was committed or not, and the notes of the conditions, are part of it. */
export function diagnoseEnd(evaluation: Evaluation, verdict: Verdict): Diagnosis {
  const { conditions, observation } = evaluation
  if (verdict.status === 'deployed') {
    const notes = conditions.all.flatMap(({ note }) => (note === undefined ? [] : [noteOf(note)]))
    return { ...diagnose(evaluation, verdict), evidence: notes }
  }
  const { writeBack } = observation
  const isNoted = writeBack.kind === 'monitor' && writeBack.note !== '' && verdict.status !== 'cancelled'
  const evidence = [
    ...(isNoted ? [{ kind: 'not_committed', text: boundedLine(writeBack.note) } as const] : []),
    ...(verdict.evidence ?? []),
  ]
  return diagnose(evaluation, { ...verdict, evidence })
}

/** Of a task whose application was never seen, or whose write-back alone decides. */
export function diagnoseUnseen(
  task: JudgedTask,
  observation: RolloutObservation,
  settings: RolloutSettings,
  verdict: Verdict | undefined,
): Diagnosis {
  return {
    conditions: unknownConditions(task),
    ...verdictParts(verdict),
    evidence: [...situationOf(task, observation), ...(verdict?.evidence ?? [])],
    next_steps: [...nextStepsOf(verdict?.cause)],
    links: linksTo(observation.known.newest, settings),
  }
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

/** Unix seconds of a moment on the judge's clock, counted from when the task was accepted. */
const secondsAt = ({ createdSeconds, acceptedAtMs }: JudgedTask, atMs: number) =>
  Math.round(createdSeconds * 1_000 + (atMs - acceptedAtMs)) / 1_000

function conditionsOf(evaluation: Evaluation): Condition[] {
  const { conditions, memory, nowMs, task } = evaluation
  // What the application shows before the commit has nothing to do with this task.
  if (isAwaitingCommit(evaluation)) return unknownConditions(task)
  return conditions.all.map(({ name, state, expected, found }) => ({
    name,
    state,
    since: secondsAt(task, memory.conditionSince.get(name)?.sinceMs ?? nowMs),
    ...(expected === undefined ? {} : { expected: boundedLine(expected) }),
    ...(found === undefined ? {} : { found: boundedLine(found) }),
  }))
}

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

const boundedCulprit = ({ kind, namespace, name, container, message }: Culprit): Culprit => ({
  kind: boundedLine(kind),
  namespace: boundedLine(namespace),
  name: boundedLine(name),
  ...(container === undefined ? {} : { container }),
  message: boundedLine(message),
})

/** The items up to what is too much to store. */
function fitting<Item>(items: readonly Item[], maxBytes: number): Item[] {
  let bytes = 0
  return items.filter((one) => {
    bytes += Buffer.byteLength(JSON.stringify(one))
    return bytes <= maxBytes
  })
}

const boundedTexts = (texts: readonly string[]) => texts.slice(0, maxItems).map(boundedLine)

function nextStepsOf(cause: Cause | undefined, overrideFilePrefix = 'argocd'): readonly NextStep[] {
  if (cause === undefined) return []
  const steps = causeOf(cause).nextSteps
  if (cause !== 'commit_without_effect' || overrideFilePrefix === 'argocd') return steps
  const text = `Set OVERRIDE_FILE_PREFIX to "argocd": it is "${overrideFilePrefix}", which Argo CD does not read.`
  return [{ actor: 'operator', text }, ...steps]
}

const maxPods = 20
const maxPodsBytes = 8_192

/** The Pods of the last tree, new and unready ones first. Before its commit they have nothing to do with a task. */
export function podsOf(evaluation: Evaluation): readonly Pod[] {
  const { task, observation, settings } = evaluation
  const tree = isAwaitingCommit(evaluation) ? undefined : observation.tree?.value
  const shown = (tree?.pods ?? []).map((pod) => ({ pod, ready: isPodReady(pod) }))
  const sorted = shown.toSorted(
    (one, other) =>
      Number(one.ready) - Number(other.ready) || (other.pod.createdAtMs ?? 0) - (one.pod.createdAtMs ?? 0),
  )
  const pods = sorted.slice(0, maxPods).map(({ pod, ready }) => {
    const ofTask = task.images.flatMap((image) => imagesOf(image, pod.images, settings))
    return {
      namespace: boundedLine(pod.namespace),
      name: boundedLine(pod.name),
      image: boundedLine(ofTask[0] ?? pod.images[0] ?? ''),
      ready,
      state: boundedLine(pod.reason ?? ''),
      restarts: pod.restarts ?? 0,
    }
  })
  return fitting(pods, maxPodsBytes)
}

const isPodReady = ({ reason, health }: ObservedPod) => reason === 'Running' && health === 'Healthy'

/** Whether Pods of the version before still serve, where Pods were read. */
function impactOf({ task, observation: { tree }, settings }: Evaluation): Pick<Diagnosis, 'impact'> {
  if (tree?.value === undefined || tree.value.pods.length === 0) return {}
  const isOld = ({ images, reason }: ObservedPod) =>
    !endedReasons.has(reason ?? '') &&
    task.images.some((image) => {
      const ofRepository = imagesOf(image, images, settings)
      return ofRepository.length > 0 && !isImageRunning(image, ofRepository, settings)
    })
  const old = tree.value.pods.filter(isOld)
  const ready = old.filter(isPodReady)
  return { impact: { old_pods_ready: ready.length, old_pods: old.length } }
}

const endedReasons: ReadonlySet<string> = new Set(['Completed', 'Succeeded', 'Terminating'])

const noteOf = (text: string): Evidence => ({ kind: 'note', text: boundedLine(text) })

/** What stands above all conditions: Argo CD does not answer, or the commit is still on its way. */
function situationOf(task: JudgedTask, { unreachable, writeBack }: RolloutObservation): readonly Evidence[] {
  return [
    ...(unreachable === undefined
      ? []
      : [
          {
            kind: 'unreachable',
            since: secondsAt(task, unreachable.sinceMs),
            message: boundedLine(unreachable.why),
          } as const,
        ]),
    ...(writeBack.kind === 'pending' ? [{ kind: 'commit_pending' } as const] : []),
  ]
}

function observationsOf(evaluation: Evaluation): readonly Evidence[] {
  const { application } = evaluation
  return [
    ...evaluation.appErrors
      .slice(0, maxItems)
      .map(({ type, message }) => ({ kind: 'app_condition', type, message: boundedLine(message) }) as const),
    ...operationEvidence(application),
    ...podEvidence(evaluation),
    ...unhealthyEvidence(application, evaluation.observation.tree?.value),
    ...outOfSyncEvidence(application),
    imageEvidence(evaluation),
    revisionEvidence(evaluation),
    statusEvidence(application),
  ]
}

const resource = (kindAndName: { kind: string; name: string }, problem: string, message = '') => ({
  kind: 'resource' as const,
  resource: boundedLine(`${kindAndName.kind} ${kindAndName.name}`),
  problem,
  message: boundedLine(message),
})

function operationEvidence({ operation, conditions }: ObservedApplication): readonly Evidence[] {
  const syncError = conditions.find(({ type }) => type === 'SyncError')
  const bad = operation?.resources.filter((one) => isFailedHook(one) || one.status === 'SyncFailed') ?? []
  const { phase, message = '' } = operation ?? {}
  return [
    ...(phase === undefined ? [] : [{ kind: 'operation', phase, message: boundedLine(message) } as const]),
    ...bad
      .slice(0, maxItems)
      .map((one) =>
        resource(one, one.hookType === undefined ? 'not synced' : `${one.hookType} hook failed`, one.message),
      ),
    ...(syncError === undefined
      ? []
      : [{ kind: 'app_condition', type: 'SyncError', message: boundedLine(syncError.message) } as const]),
  ]
}

function podEvidence({ badPods = [], observation: { tree, podEvents } }: Evaluation): readonly Evidence[] {
  const degraded = tree?.value?.pods.filter(({ health }) => health === 'Degraded') ?? []
  const pods = [...new Set([...badPods.map(({ pod }) => pod), ...degraded])].slice(0, maxItems)
  return pods.map(({ uid, namespace, name, images, reason = '', message = '' }) => ({
    kind: 'pod',
    namespace: boundedLine(namespace),
    name: boundedLine(name),
    images: boundedTexts(images),
    state: reason,
    message: boundedLine(message),
    events: podEvents?.value?.uid === uid ? podEvents.value.lines.slice(-maxEvents).map(boundedLine) : [],
  }))
}

function unhealthyEvidence(application: ObservedApplication, tree: ResourceTree | undefined): readonly Evidence[] {
  const listed = application.resources.flatMap(({ kind, name, health, healthMessage }) =>
    health === undefined || health === 'Healthy' ? [] : [resource({ kind, name }, health, healthMessage)],
  )
  const fromTree = (tree?.unhealthy ?? [])
    .filter(({ kind }) => kind !== 'Pod')
    .map((one) => resource(one, one.health, one.message))
  // The list is younger than the tree, so its word counts where both name a resource.
  const byName = new Map([...fromTree, ...listed].map((one) => [one.resource, one]))
  return [...byName.values()].slice(0, maxItems)
}

function outOfSyncEvidence({ resources, syncStatus }: ObservedApplication): readonly Evidence[] {
  const out = syncStatus === 'Synced' ? [] : resources.filter((one) => one.syncStatus === 'OutOfSync')
  if (out.length === 0) return []
  const names = out
    .slice(0, maxItems)
    .map(
      ({ kind, name, requiresPruning }) =>
        `${boundedLine(`${kind} ${name}`)}${requiresPruning ? ' (to be pruned)' : ''}`,
    )
  const more = out.length - names.length
  return [{ kind: 'out_of_sync', resources: names, ...(more > 0 ? { more } : {}) }]
}

function imageEvidence(evaluation: Evaluation): Evidence {
  const { application, task, badPods = [] } = evaluation
  // An image that could not be pulled stands in the specification of its Pod, and runs nowhere.
  const unpulled = badPods.filter(({ cause }) => cause === 'image_pull' || cause === 'image_name')
  const notPulled = new Set(unpulled.flatMap(({ pod }) => pod.images))
  const found = application.images.map((image) => (notPulled.has(image) ? `${image} (not pulled)` : image))
  return {
    kind: 'images',
    requested: boundedTexts(task.images.map(imageText)),
    found: boundedTexts(found),
    applied: boundedTexts(appliedImages(application)),
  }
}

function revisionEvidence({ application, commit }: Evaluation): Evidence {
  return {
    kind: 'revision',
    compared: boundedTexts(application.revisions.map(shortRevision)),
    applied: boundedTexts((application.operation?.revisions ?? []).map(shortRevision)),
    ...(commit === undefined ? {} : { commit: shortRevision(commit.commit) }),
  }
}

function statusEvidence(application: ObservedApplication): Evidence {
  const { syncStatus = 'no sync status', healthStatus = 'no health status' } = application
  return { kind: 'status', sync: syncStatus, health: healthStatus, automated_sync: describeAutoSync(application) }
}

function describeAutoSync(application: ObservedApplication): string {
  if (isOperationActive(application)) return 'an operation is running'
  if (!application.isAutoSynced) return 'automated sync is off'
  return application.isSelfHealed ? 'automated sync is on, with self-heal' : 'automated sync is on, without self-heal'
}
