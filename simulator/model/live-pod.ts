import { kubernetesTime } from './clock.ts'
import type { Container } from './manifest.ts'
import { phaseMessage } from './phase-words.ts'
import type { EndedRun, Pod } from './pod.ts'
import { kubernetesPhase, readyContainers } from './pod-health.ts'
import { podLabels, podParent } from './render-resource-tree.ts'
import type { Workload } from './workload.ts'

/** What every Pod has in its environment, arguments and annotations, so that tests can prove that it goes nowhere. */
export const podSecret = 'simulated-secret-of-a-pod'

const memoryLimit = '128Mi'

/** A Pod as the Kubernetes API shows it, members sorted by name, without those that only Kubernetes itself reads. */
export function livePod(workload: Workload, pod: Pod): unknown {
  const { group = '', version, kind, name, uid } = podParent(workload, pod)
  const isInitialized = !pod.isInitializing
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      annotations: { 'example.org/token': `${podSecret}-in-annotation` },
      creationTimestamp: kubernetesTime(pod.createdAt),
      generateName: `${name}-`,
      generation: 1,
      labels: podLabels(workload, pod),
      name: pod.name,
      namespace: pod.namespace,
      ownerReferences: [
        {
          apiVersion: group === '' ? version : `${group}/${version}`,
          blockOwnerDeletion: true,
          controller: true,
          kind,
          name,
          uid,
        },
      ],
      resourceVersion: pod.resourceVersion,
      uid: pod.uid,
    },
    spec: {
      containers: pod.containers.map(containerSpec),
      initContainers: pod.initContainers.length > 0 ? pod.initContainers.map(containerSpec) : undefined,
      nodeName: pod.phase === 'Pending' ? undefined : 'fake-node-1',
      restartPolicy: pod.restartPolicy,
      schedulerName: 'default-scheduler',
    },
    status: pod.phase === 'Pending' ? pendingStatus(pod) : startedStatus(pod, isInitialized),
  }
}

const containerSpec = ({ name, image }: Container) => ({
  args: [`--token=${podSecret}-in-argument`],
  env: [{ name: 'DATABASE_PASSWORD', value: `${podSecret}-in-environment` }],
  image,
  imagePullPolicy: 'IfNotPresent',
  name,
  resources: { limits: { memory: memoryLimit }, requests: { memory: memoryLimit } },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
})

type Condition = { type: string; isTrue: boolean; reason?: string; message?: string; observedGeneration?: number }

const condition = (pod: Pod, { type, isTrue, reason, message, observedGeneration }: Condition) => ({
  lastProbeTime: null,
  lastTransitionTime: kubernetesTime(pod.createdAt),
  message,
  observedGeneration,
  reason,
  status: isTrue ? 'True' : 'False',
  type,
})

/** Only the scheduler has written to it so far. */
function pendingStatus(pod: Pod) {
  const message = pod.events.find(({ reason }) => reason === 'FailedScheduling')?.message
  const unscheduled = { type: 'PodScheduled', isTrue: false, reason: 'Unschedulable', message, observedGeneration: 1 }
  return {
    conditions: message === undefined ? undefined : [condition(pod, { ...unscheduled, message })],
    phase: 'Pending',
    qosClass: 'Burstable',
  }
}

function startedStatus(pod: Pod, isInitialized: boolean) {
  const names = (containers: readonly Container[]) => `[${containers.map(({ name }) => name).join(' ')}]`
  const ready = readyContainers(pod)
  const unready = pod.containers.filter((container) => !ready.includes(container))
  const readiness = (type: string): Condition =>
    unready.length === 0
      ? { type, isTrue: true }
      : {
          type,
          isTrue: false,
          reason: 'ContainersNotReady',
          message: `containers with unready status: ${names(unready)}`,
        }
  const initialized: Condition = isInitialized
    ? { type: 'Initialized', isTrue: true }
    : {
        type: 'Initialized',
        isTrue: false,
        reason: 'ContainersNotInitialized',
        message: `containers with incomplete status: ${names(pod.initContainers)}`,
      }
  const isSandboxed = pod.phase !== 'ContainerCreating'
  const conditions: readonly Condition[] = [
    { type: 'PodReadyToStartContainers', isTrue: isSandboxed },
    initialized,
    readiness('Ready'),
    readiness('ContainersReady'),
    { type: 'PodScheduled', isTrue: true },
  ]
  return {
    conditions: conditions.map((one) => condition(pod, one)),
    containerStatuses: pod.containers.map((container) => containerStatus(pod, container)),
    hostIP: '127.0.0.1',
    hostIPs: [{ ip: '127.0.0.1' }],
    initContainerStatuses:
      pod.initContainers.length > 0 ? pod.initContainers.map((container) => initStatus(pod, container)) : undefined,
    phase: kubernetesPhase(pod),
    podIP: '10.0.1.60',
    podIPs: [{ ip: '10.0.1.60' }],
    qosClass: 'Burstable',
    startTime: kubernetesTime(pod.createdAt),
  }
}

function initStatus(pod: Pod, container: Container) {
  if (pod.isInitializing) return containerStatus(pod, container)
  const run = { startedAtMs: pod.createdAt, finishedAtMs: pod.createdAt, exitCode: 0, reason: 'Completed' }
  return { ...status(container), ready: true, state: { terminated: terminated(run) } }
}

function containerStatus(pod: Pod, container: Container) {
  if (container.name === pod.container.name) return actorStatus(pod)
  if (pod.isInitializing) return { ...status(container), state: { waiting: { reason: 'PodInitializing' } } }
  if (readyContainers(pod).includes(container)) {
    const running = { startedAt: kubernetesTime(pod.createdAt) }
    return { ...status(container), ready: true, started: true, state: { running } }
  }
  return { ...status(container), state: { waiting: { reason: 'ContainerCreating' } } }
}

/** Of the container that the Pod's behaviour is about. */
function actorStatus(pod: Pod) {
  return {
    ...status(pod.container),
    lastState: pod.lastEnded ? { terminated: terminated(pod.lastEnded) } : {},
    ready: pod.isReady,
    restartCount: pod.restarts,
    started: pod.phase === 'Running',
    state: stateOf(pod),
  }
}

function stateOf(pod: Pod) {
  const { phase, ended } = pod
  if (phase === 'Running') return { running: { startedAt: kubernetesTime(pod.startedAtMs) } }
  if (ended) return { terminated: terminated(ended) }
  return { waiting: { message: phaseMessage(pod), reason: phase } }
}

const status = ({ name, image }: Container) => ({
  image,
  imageID: '',
  lastState: {},
  name,
  ready: false,
  restartCount: 0,
  started: false,
})

const terminated = ({ exitCode, finishedAtMs, reason, startedAtMs }: EndedRun) => ({
  exitCode,
  finishedAt: kubernetesTime(finishedAtMs),
  reason,
  startedAt: kubernetesTime(startedAtMs),
})
