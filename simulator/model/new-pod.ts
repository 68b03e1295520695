import type { Container, Manifest } from './manifest.ts'
import { noteEvent } from './noted-event.ts'
import type { Pod } from './pod.ts'
import { isAboutInit, isSchedulable, type PodBehaviour } from './pod-behaviours.ts'
import { type ClusterDeps, scheduled } from './pod-life.ts'
import { kubernetesAlphabet, type Random, randomName, randomUuid } from './random.ts'
import type { PodSet } from './workload.ts'

export const newPodName = (set: PodSet, random: Random) => `${set.name}-${randomName(random, kubernetesAlphabet, 5)}`

/** A Pod as its controller creates it. */
export function newPod(deps: ClusterDeps, manifest: Manifest, set: PodSet, behaviour: PodBehaviour): Pod {
  const { clock, random } = deps
  const pod: Pod = {
    name: newPodName(set, random),
    namespace: manifest.namespace,
    uid: randomUuid(random),
    hash: set.hash,
    containers: manifest.containers,
    createdAt: clock.now(),
    restartPolicy: manifest.kind === 'Job' || manifest.kind === 'CronJob' ? 'Never' : 'Always',
    behaviour,
    because: deps.because(),
    ...containerOf(manifest, behaviour, deps.behaviourOf),
    phase: isSchedulable(behaviour) ? 'ContainerCreating' : 'Pending',
    isReady: false,
    isTerminating: false,
    restarts: 0,
    backOffs: 0,
    startedAtMs: clock.now(),
    ended: undefined,
    lastEnded: undefined,
    events: [],
    resourceVersion: deps.nextResourceVersion(),
  }
  if (isSchedulable(behaviour)) noteEvent(pod.events, scheduled(pod), clock.now())
  return pod
}

/** The container that the behaviour is about. One about init containers gives the Pod one if it has none. */
function containerOf(
  { containers, initContainers }: Manifest,
  behaviour: PodBehaviour,
  behaviourOf: (image: string) => PodBehaviour,
): Pick<Pod, 'container' | 'initContainers' | 'isInitializing'> {
  const main = containers[0] ?? { name: '', image: '' }
  if (isAboutInit(behaviour)) {
    const inits: readonly Container[] =
      initContainers.length > 0 ? initContainers : [{ name: 'migrate', image: main.image }]
    return { container: inits[0] ?? main, initContainers: inits, isInitializing: true }
  }
  const isMisbehaving = ({ image }: Container) => behaviourOf(image) === behaviour
  const container = containers.find(isMisbehaving) ?? initContainers.find(isMisbehaving) ?? main
  return { container, initContainers, isInitializing: behaviour !== 'runs' && initContainers.includes(container) }
}
