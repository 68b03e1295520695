import type { Evidence, Pod } from '../../../../contract/diagnosis.ts'
import { boundedLine } from '../../../../contract/text/render-diagnosis.ts'
import {
  appliedImages,
  isFailedHook,
  isOperationActive,
  type ObservedApplication,
  syncErrorOf,
} from '../../observed/observed-application.ts'
import { isPodReady, type ResourceEvent, type ResourceTree } from '../../observed/observed-resources.ts'
import type { Evaluation } from '../conditions/evaluate.ts'
import { imagesOf } from '../conditions/image-reference.ts'
import { imageText } from '../conditions/images-condition.ts'
import { shortRevision } from '../conditions/revision-condition.ts'
import { isAwaitingCommit, type JudgedTask, secondsAt } from '../input/judge-input.ts'
import type { RolloutObservation } from '../input/rollout-observation.ts'
import type { Verdict } from '../input/verdict.ts'
import { renderEvent } from './explain-events.ts'

const maxItems = 10
const maxEvidenceBytes = 32_768
const maxEvents = 5

/** What is known and was found of an application, up to 32 KiB. Texts have at most 600 characters, lists 10 items. */
export function evidenceOf(evaluation: Evaluation, verdict: Verdict | undefined): Evidence[] {
  const { task, observation } = evaluation
  return fitting(
    [...situationOf(task, observation), ...(verdict?.evidence ?? []), ...observationsOf(evaluation)],
    maxEvidenceBytes,
  )
}

/** What stands above all conditions: Argo CD does not answer, or the commit is still on its way. */
export function situationOf(task: JudgedTask, { unreachable, writeBack }: RolloutObservation): readonly Evidence[] {
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

function operationEvidence(application: ObservedApplication): readonly Evidence[] {
  const { operation } = application
  const syncError = syncErrorOf(application)
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
      : [{ kind: 'app_condition', type: 'SyncError', message: boundedLine(syncError) } as const]),
  ]
}

function podEvidence({ badPods = [], suspect, observation }: Evaluation): readonly Evidence[] {
  const { tree, events } = observation
  const degraded = tree?.value?.pods.filter(({ health }) => health === 'Degraded') ?? []
  const suspected = suspect === undefined || suspect.found.kind === 'resource' ? [] : [suspect.found.pod]
  const pods = [...new Set([...badPods.map(({ pod }) => pod), ...suspected, ...degraded])].slice(0, maxItems)
  return pods.map(({ uid, namespace, name, images, reason = '', message = '' }) => {
    const newest = (events.get(uid)?.value ?? []).slice(-maxEvents)
    return {
      kind: 'pod',
      namespace: boundedLine(namespace),
      name: boundedLine(name),
      images: boundedTexts(images),
      state: reason,
      message: boundedLine(message),
      events: newest.map((event) => boundedLine(renderEvent(event))),
      ...(newest.length === 0 ? {} : { occurrences: newest.map(occurrenceOf) }),
    }
  })
}

const occurrenceOf = ({ count, lastMs }: ResourceEvent) => ({
  count,
  ...(lastMs === undefined ? {} : { last: lastMs / 1000 }),
})

function unhealthyEvidence(application: ObservedApplication, tree: ResourceTree | undefined): readonly Evidence[] {
  const listed = application.resources.flatMap(({ kind, name, health, healthMessage }) =>
    health === undefined || health === 'Healthy' ? [] : [resource({ kind, name }, health, healthMessage)],
  )
  const fromTree = (tree?.resources ?? []).flatMap(({ kind, name, health, message }) =>
    health === undefined || health === 'Healthy' ? [] : [resource({ kind, name }, health, message)],
  )
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
    // the head of the branch, where the tags were there already, is the commit of another task
    ...(commit?.isNew === true ? { commit: shortRevision(commit.commit) } : {}),
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

const boundedTexts = (texts: readonly string[]) => texts.slice(0, maxItems).map(boundedLine)

/** The items up to what is too much to store. */
function fitting<Item>(items: readonly Item[], maxBytes: number): Item[] {
  let bytes = 0
  return items.filter((one) => {
    bytes += Buffer.byteLength(JSON.stringify(one))
    return bytes <= maxBytes
  })
}
