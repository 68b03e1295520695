import {
  argoCdRetries,
  type Cause,
  causeOf,
  developer,
  follow,
  type NextStep,
  platformTeam,
  redeploy,
} from '../causes.ts'
import type { Culprit } from '../diagnosis.ts'
import { rolloutOfAnalysisRun } from './describe-abort.ts'
import { isPruneConfirmation } from './describe-operation-wait.ts'
import { pullFailureOf } from './describe-pull-failure.ts'
import { withBoundedMessage } from './plain-words.ts'
import { stepsOfArgoCd, stepsOfRejected } from './steps-of-rejection.ts'

/** What to do, and who does it, where the culprit and its message tell more than the cause. */
export function nextStepsFor(cause: Cause, culprit: Culprit | undefined): readonly NextStep[] {
  const steps = (culprit && stepsOf[cause]?.(withBoundedMessage(culprit))) ?? causeOf(cause).nextSteps
  const isOld = culprit?.before_deployment === true && steps[0]?.actor === 'developer'
  return isOld ? repairFirst(culprit) : steps
}

const repairFirst = ({ kind, name }: Culprit) => [
  developer(`Repair ${kind} ${name} first: it was Degraded before this deployment.`),
  follow,
]

type Steps = (culprit: Culprit) => readonly NextStep[] | undefined

const startsByItself = 'the Pod then starts by itself'

const stepsOf: Partial<Readonly<Record<Cause, Steps>>> = {
  image_pull: ({ message }) => {
    switch (pullFailureOf(message)) {
      case 'rate_limit':
        return [
          platformTeam(`Pull with an account or from a mirror, or wait for the rate limit to end; ${startsByItself}.`),
        ]
      case 'denied':
        return [
          platformTeam(`Check the pull secret of the Pod and its rights in the registry; ${startsByItself}.`),
          developer('If the name of the image is wrong, deploy the right one.'),
        ]
      case 'certificate':
      case 'no_such_host':
      case 'timeout':
      case 'no_connection':
        return [
          platformTeam(`Check that the nodes reach the registry and trust its certificate; ${startsByItself}.`),
          developer('If the name of the registry is wrong, deploy the right one.'),
        ]
      case 'disk':
        return [platformTeam(`Free disk space on the node; ${startsByItself}.`)]
      case 'platform':
        return [developer('Build the image for the platform of the nodes, and deploy it with a new tag.')]
      default:
        return undefined
    }
  },
  container_config: ({ reason = '', message }) => {
    if (/PodSandBox|NetworkNotReady/.test(reason || message))
      return [platformTeam(`Check the network plugin and the runtime of the node; ${startsByItself}.`)]
    if (/not found$|couldn't find key|non-existent/i.test(message)) return undefined
    return [developer('Correct in the image or in Git what the message names.'), redeploy]
  },
  volume_unavailable: ({ message }) => {
    const isNamed = /(?:configmap|secret|persistentvolumeclaim) "[^"]*" not found|non-existent/i.test(message)
    return isNamed
      ? undefined
      : [
          platformTeam(`Check the storage class, the volume and its driver; ${startsByItself}.`),
          developer('If the claim names the wrong storage class or volume, correct it in Git.'),
        ]
  },
  crash_loop: ({ reason, probe }) => {
    if (reason?.endsWith('OOMKilled'))
      return [developer('Raise the memory limit of the container in Git, or deploy a version that needs less.')]
    if (probe === undefined) return undefined
    return [
      developer(`Read why the ${probe} probe fails, in the log of the container.`),
      developer('If the container only needs more time, change the probe in Git.'),
      redeploy,
    ]
  },
  quota_exceeded: ({ message }) => stepsOfRejected(message),
  admission_denied: ({ message }) => stepsOfRejected(message),
  degraded: ({ kind, name, message }) => {
    const rejected = stepsOfRejected(message)
    if (rejected !== undefined) return rejected
    if (kind === 'Application') return undefined
    const read = developer(`Open ${kind} ${name} in Argo CD and read its events.`)
    return imageKinds.has(kind) ? [read, redeploy] : [read, developer('Fix in Git what they name.'), follow]
  },
  hook_failed: ({ kind, name, message }) =>
    stepsOfArgoCd(message, 'sync') ?? [
      developer(`Read the log of ${kind} ${name} and fix the hook in Git.`),
      argoCdRetries,
    ],
  operation_waiting: ({ kind, name, message }) => {
    if (isPruneConfirmation(message))
      return [developer('Confirm the pruning in Argo CD, or keep the resource in Git.'), follow]
    if (kind === 'Application') return undefined
    const toDo = / of hook /.test(message)
      ? `Read the log of ${kind} ${name}: the sync continues once it completes.`
      : `Open ${kind} ${name} in Argo CD: the sync continues once it is ready.`
    return [developer(toDo), follow]
  },
  sync_error: ({ message }) => stepsOfArgoCd(message, 'sync'),
  auto_sync_stopped: ({ message }) => stepsOfArgoCd(message, 'sync'),
  comparison_error: ({ message }) => stepsOfArgoCd(message, 'compare'),
  suspended: ({ kind, namespace, name, reason = '' }) =>
    kind === 'Rollout' && /^(?:CanaryPauseStep|BlueGreenPause)$/.test(reason)
      ? [
          developer(`To let it go on, run: kubectl argo rollouts promote ${name}${inNamespace(namespace)}`),
          ...causeOf('suspended').nextSteps.slice(1),
        ]
      : undefined,
  rollout_aborted: ofAbort,
  analysis_failed: ofAbort,
  timeout: ({ kind, name }) => {
    if (kind === 'Ingress' || kind === 'Service')
      return [
        platformTeam(`Check why ${kind} ${name} gets no address: its class, its controller or the load balancer.`),
        follow,
      ]
    return [
      developer(`Open ${kind} ${name} in Argo CD and read its events.`),
      developer('If it only needs more time, submit the deployment again with a longer timeout.'),
    ]
  },
}

/** What runs images: a new one may repair it. */
const imageKinds: ReadonlySet<string> = new Set([
  'Pod',
  'ReplicaSet',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'CronJob',
  'Rollout',
])

const inNamespace = (namespace: string) => (namespace === '' ? '' : ` -n ${namespace}`)

function ofAbort({ kind, namespace, name }: Culprit): readonly NextStep[] {
  const rollout = kind === 'AnalysisRun' ? (rolloutOfAnalysisRun(name) ?? '<rollout>') : name
  const why =
    kind === 'AnalysisRun'
      ? `Read the measurements of the metric in AnalysisRun ${name}.`
      : `Find in the events of ${kind} ${name} who or what aborted it.`
  return [
    developer(why),
    developer(
      `To try this version again, run: kubectl argo rollouts retry rollout ${rollout}${inNamespace(namespace)}`,
    ),
    developer('If the version is at fault, deploy a fixed one with a new tag.'),
  ]
}
