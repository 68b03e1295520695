import { type Cause, causeOf, causesOfCommit, isCause, selfExplaining } from '../causes.ts'
import { awaitedOf, firstUnmet } from '../conditions.ts'
import type { Culprit, Diagnosis } from '../diagnosis.ts'
import { argoCdFault } from './argo-cd-fault.ts'
import { describeAbort, rolloutOfAnalysisRun } from './describe-abort.ts'
import { describeArgoCdFailure } from './describe-argo-cd-failure.ts'
import { describeContainerFailure } from './describe-container-failure.ts'
import { describeOperationWait } from './describe-operation-wait.ts'
import { describePullFailure, pulledImage } from './describe-pull-failure.ts'
import { describeSchedulingFailure } from './describe-scheduling-failure.ts'
import { fitHeadline, type HeadlineParts } from './fit-headline.ts'
import { containerParts, crashParts, probeParts } from './headline-of-container.ts'
import { rejectionParts, volumeParts } from './headline-of-workload.ts'
import { plainWords, withBoundedMessage, wordsOfCommit, wordsOfResource } from './plain-words.ts'

type Told = Pick<Diagnosis, 'cause'> & Partial<Pick<Diagnosis, 'culprit' | 'conditions' | 'evidence'>>

/** The diagnosis with its first line, where a cause is known. */
export const withHeadline = (diagnosis: Diagnosis): Diagnosis =>
  diagnosis.cause === undefined || !isCause(diagnosis.cause)
    ? diagnosis
    : { ...diagnosis, headline: renderHeadline(diagnosis) }

/** What happened, in one line of at most 120 characters: which container or resource, and why. */
export function renderHeadline(told: Told): string {
  const { cause } = told
  if (cause === undefined || !isCause(cause)) return ''
  const culprit = told.culprit && withBoundedMessage(told.culprit)
  const parts = (culprit && partsOf[cause]?.(culprit)) ?? partsOfCause(cause, { ...told, culprit })
  if (culprit?.before_deployment !== true) return fitHeadline(parts)
  return fitHeadline({ ...parts, does: `${parts.does ?? ''} (since before this deployment)` })
}

/** What a cause says of its culprit. Of the others their own text and the message say enough. */
const partsOf: Partial<Readonly<Record<Cause, (culprit: Culprit) => HeadlineParts>>> = {
  image_pull: pullParts,
  image_name: ({ message }) => {
    const [, name, why] = /"([^"]*)"[^"]*: ([^:"]+)$/.exec(message) ?? []
    return name === undefined
      ? { does: causeOf('image_name').headline, why: plainWords(message) }
      : { kind: 'Image name', name: `"${name}"`, does: 'is not valid', why: why ?? '' }
  },
  container_config: (culprit) =>
    /^\w*: ?(?:Mount|Attach|Map)Volume|^(?:Mount|Attach|Map)Volume/.test(culprit.message)
      ? volumeParts(culprit)
      : containerParts(culprit, describeContainerFailure(culprit.message)),
  crash_loop: crashParts,
  probe_failing: probeParts,
  unschedulable: ({ message }) => ({
    kind: 'Pod',
    does: 'cannot be scheduled',
    why: describeSchedulingFailure(message),
  }),
  volume_unavailable: volumeParts,
  annotation_invalid: ({ message }) => {
    const [, name, rest] = /^the annotation (\S+) has no alias (.+)$/.exec(message) ?? []
    return name === undefined
      ? { does: causeOf('annotation_invalid').headline, why: plainWords(message) }
      : { kind: 'Annotation', name, does: `has no alias ${rest}` }
  },
  quota_exceeded: rejectionParts,
  admission_denied: rejectionParts,
  degraded: (culprit) => resourceParts(culprit, 'is Degraded', 'The application is Degraded'),
  hook_failed: (culprit) => ({ ...refusedParts(culprit, 'failed'), kind: `Hook ${culprit.kind}` }),
  operation_waiting: describeOperationWait,
  sync_error: (culprit) => refusedParts(culprit, 'cannot be applied', 'Argo CD cannot apply the manifests'),
  comparison_error: ({ message }) => ({
    does: argoCdFault(message) === 'manifests' ? 'Argo CD cannot render the manifests' : 'Argo CD cannot compare',
    why: describeArgoCdFailure(message),
  }),
  auto_sync_stopped: ({ message }) => ({ does: 'Argo CD stopped automated sync', why: describeArgoCdFailure(message) }),
  image_not_in_application: ({ message }) => {
    const name = /^(\S+) is not among its images/.exec(message)?.[1]
    const does = 'is not part of the application'
    return name === undefined ? { does: `The image ${does}` } : { kind: 'Image', name, does }
  },
  suspended: (culprit) => {
    const paused = pauses[culprit.reason ?? '']
    return paused === undefined
      ? resourceParts(culprit, 'is Suspended')
      : { ...resourceParts(culprit, paused), why: '' }
  },
  rollout_aborted: abortParts,
  analysis_failed: abortParts,
  timeout: (culprit) => resourceParts(culprit, `is still ${culprit.reason ?? 'Progressing'}`),
}

const pauses: Readonly<Record<string, string>> = {
  CanaryPauseStep: 'is paused at a canary step and waits for a person',
  BlueGreenPause: 'is paused before its promotion and waits for a person',
}

function partsOfCause(cause: Cause, { culprit, conditions = [], evidence = [] }: Told): HeadlineParts {
  const does = causeOf(cause).headline
  if (selfExplaining.has(cause)) return { does }
  if (culprit !== undefined) return { does, why: plainWords(culprit.message) }
  if (cause === 'timeout') {
    const unmet = firstUnmet(conditions)
    if (unmet === undefined) return { does }
    const found = unmet.found === undefined ? '' : `found ${unmet.found}`
    return { does: `Timed out waiting for ${awaitedOf[unmet.name] ?? unmet.name}`, why: found }
  }
  for (const one of evidence) {
    if (one.kind === 'unreachable')
      return { does: 'The outcome is not confirmed', why: `Argo CD is unreachable: ${one.message}` }
    if (one.kind === 'not_committed' && causesOfCommit.has(cause)) return { does, why: wordsOfCommit(one.text) }
  }
  return { does }
}

function pullParts({ message, container, name, is_init: isInit }: Culprit): HeadlineParts {
  const image = pulledImage(message)
  const does = 'cannot be pulled'
  const why = describePullFailure(message)
  // What tells images apart is the end of their names.
  if (image !== undefined)
    return { kind: 'Image', name: image.length > 60 ? image.replace(/^[^/]+(?=\/)/, '…') : image, does, why }
  if (container === undefined) return { kind: 'Image of Pod', name, does, why }
  return { kind: `Image of ${isInit ? 'init ' : ''}container`, name: container, does, why }
}

/** Of the application as a whole `ofApplication` says it. */
function resourceParts({ kind, name, message }: Culprit, does: string, ofApplication?: string): HeadlineParts {
  const why = wordsOfResource(message)
  return kind === 'Application' && ofApplication !== undefined
    ? { does: ofApplication, why }
    : { kind, name, does, why }
}

/** A resource that the API server did not take from Argo CD. */
function refusedParts(culprit: Culprit, does: string, ofApplication?: string): HeadlineParts {
  const { kind, name } = culprit
  const message = describeArgoCdFailure(culprit.message).replace(`${kind} ${name}: `, '')
  return resourceParts({ ...culprit, message }, does, ofApplication)
}

/** The AnalysisRun is blamed, the Rollout is what was aborted. */
function abortParts({ kind, name, message, metric }: Culprit): HeadlineParts {
  const rollout = kind === 'AnalysisRun' ? rolloutOfAnalysisRun(name) : name
  const described = describeAbort(message)
  const why = described === '' && metric !== undefined ? `metric ${metric} failed` : described
  return rollout === undefined
    ? { does: 'The rollout was aborted', why }
    : { kind: 'Rollout', name: rollout, does: 'was aborted', why }
}
