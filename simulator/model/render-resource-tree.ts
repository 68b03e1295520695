import type { Health } from './application.ts'
import { kubernetesTime } from './clock.ts'
import { imagesOf, type Manifest } from './manifest.ts'
import { hasFailed, isFinished, type Pod } from './pod.ts'
import { podHealth, podReason, readyContainers } from './pod-health.ts'
import { hasOwnClaim, templateClaim } from './volume-claim.ts'
import { currentSet, highestRevision, type PodSet, type Workload, workloadHealth } from './workload.ts'

type ParentRef = {
  group?: string | undefined
  version: string
  kind: string
  namespace: string
  name: string
  uid: string
}

type TreeNode = ParentRef & {
  parentRefs?: readonly ParentRef[] | undefined
  info?: readonly { name: string; value?: string }[] | undefined
  networkingInfo?: Record<string, unknown> | undefined
  resourceVersion: string
  images?: readonly string[] | undefined
  health?: Health | undefined
  createdAt: string
}

export type ResourceTree = { nodes?: readonly TreeNode[] | undefined; hosts?: readonly unknown[] | undefined }

/** The live objects of an application: its resources, what their controllers made of them, and the Pods. */
export function renderResourceTree(workloads: readonly Workload[]): ResourceTree {
  const claims = hasOwnClaim(workloads) ? () => [] : claimNodes
  const nodes = workloads.flatMap((workload) => workloadNodes(workload, claims(workload))).sort(byGroupKindName)
  return { nodes: nodes.length > 0 ? nodes : undefined, hosts: nodes.length > 0 ? [host] : undefined }
}

function workloadNodes(workload: Workload, claims: readonly TreeNode[]): TreeNode[] {
  const { manifest } = workload
  const pods = workload.pods.map((pod) => podNode(workload, pod))
  return [topNode(workload), ...owners(workload), ...claims, ...pods].map((node) => ({
    group: node.group === '' ? undefined : node.group,
    version: node.version,
    kind: node.kind,
    namespace: manifest.namespace,
    name: node.name,
    uid: node.uid,
    parentRefs: node.parentRefs,
    info: node.info,
    networkingInfo: node.networkingInfo,
    resourceVersion: node.resourceVersion,
    images: node.images,
    health: node.health,
    createdAt: node.createdAt,
  }))
}

function topNode(workload: Workload): TreeNode {
  const { manifest } = workload
  const revision = currentSet(workload)?.revision ?? Math.max(1, highestRevision(workload))
  return {
    group: manifest.group,
    version: manifest.version,
    kind: manifest.kind,
    namespace: manifest.namespace,
    name: manifest.name,
    uid: workload.uid,
    info: hasReplicaSets(manifest) ? [info('Revision', `Rev:${revision}`)] : undefined,
    networkingInfo: networkingInfoOf(manifest),
    resourceVersion: workload.resourceVersion,
    health: workloadHealth(workload),
    createdAt: kubernetesTime(workload.createdAt),
  }
}

function networkingInfoOf({ kind, selector }: Manifest): Record<string, unknown> | undefined {
  if (kind === 'Service') return { targetLabels: { app: selector } }
  return kind === 'Ingress' ? {} : undefined
}

export function hasReplicaSets({ kind }: Manifest): boolean {
  return kind === 'Deployment' || kind === 'Rollout'
}

/** What stands between the resource and its Pods: ReplicaSets of a Deployment, Jobs of a CronJob. */
function owners(workload: Workload): TreeNode[] {
  if (hasReplicaSets(workload.manifest))
    return [...workload.sets.map((set) => replicaSetNode(workload, set)), ...analysisRunNodes(workload)]
  if (workload.manifest.kind === 'CronJob') return workload.pods.map((pod) => cronRunNode(workload, pod))
  return []
}

function replicaSetNode(workload: Workload, set: PodSet): TreeNode {
  const { manifest } = workload
  return {
    group: 'apps',
    version: 'v1',
    kind: 'ReplicaSet',
    namespace: manifest.namespace,
    name: set.name,
    uid: set.uid,
    parentRefs: [parentRef(manifest, workload.uid)],
    info: [{ name: 'Revision', value: `Rev:${set.revision}` }],
    resourceVersion: set.resourceVersion,
    health: replicaSetHealth(workload, set),
    createdAt: kubernetesTime(set.createdAt),
  }
}

function analysisRunNodes({ manifest, uid, rollout, resourceVersion }: Workload): TreeNode[] {
  return rollout.analysisRuns.map((run) => ({
    group: 'argoproj.io',
    version: 'v1alpha1',
    kind: 'AnalysisRun',
    namespace: manifest.namespace,
    name: run.name,
    uid: run.uid,
    parentRefs: [parentRef(manifest, uid)],
    resourceVersion,
    health: run.health,
    createdAt: kubernetesTime(run.createdAt),
  }))
}

function replicaSetHealth(workload: Workload, { hash, refusal }: PodSet): Health {
  if (refusal) return { status: 'Degraded', message: refusal.message }
  const pods = workload.pods.filter((pod) => pod.hash === hash && !pod.isTerminating)
  const available = pods.filter(({ isReady }) => isReady).length
  if (available === pods.length) return { status: 'Healthy' }
  const message = `Waiting for rollout to finish: ${available} out of ${pods.length} new replicas are available...`
  return { status: 'Progressing', message }
}

function claimNodes(workload: Workload): TreeNode[] {
  const claim = templateClaim(workload)
  if (!claim) return []
  const { manifest, uid, resourceVersion } = workload
  return [
    {
      version: 'v1',
      kind: 'PersistentVolumeClaim',
      namespace: manifest.namespace,
      name: claim.name,
      uid: claim.uid,
      parentRefs: [parentRef(manifest, uid)],
      resourceVersion,
      health: claim.health,
      createdAt: kubernetesTime(claim.createdAt),
    },
  ]
}

function cronRunNode(workload: Workload, pod: Pod): TreeNode {
  const ended = pod.phase === 'Completed'
  return {
    group: 'batch',
    version: 'v1',
    kind: 'Job',
    namespace: workload.manifest.namespace,
    name: runName(pod),
    uid: runUid(pod),
    parentRefs: [parentRef(workload.manifest, workload.uid)],
    resourceVersion: pod.resourceVersion,
    health: ended
      ? { status: 'Healthy', message: 'Reached expected number of succeeded pods' }
      : hasFailed(pod)
        ? { status: 'Degraded', message: 'Job has reached the specified backoff limit' }
        : { status: 'Progressing' },
    createdAt: kubernetesTime(pod.createdAt),
  }
}

function runName(pod: Pod): string {
  return pod.name.slice(0, pod.name.lastIndexOf('-'))
}

function runUid(pod: Pod): string {
  return `${pod.uid.slice(0, -4)}0000`
}

function parentRef({ group, version, kind, namespace, name }: Manifest, uid: string): ParentRef {
  return { group: group === '' ? undefined : group, version, kind, namespace, name, uid }
}

function podNode(workload: Workload, pod: Pod): TreeNode {
  const node = pod.phase === 'Pending' ? { name: 'Node' } : info('Node', 'fake-node-1')
  const usage = isFinished(pod) ? [] : [info('cpu', '0'), info('memory', '0')]
  return {
    version: 'v1',
    kind: 'Pod',
    namespace: workload.manifest.namespace,
    name: pod.name,
    uid: pod.uid,
    parentRefs: [podParent(workload, pod)],
    info: [
      info('Status Reason', podReason(pod)),
      node,
      info('Containers', `${readyContainers(pod).length}/${pod.containers.length}`),
      ...(pod.restarts > 0 ? [info('Restart Count', String(pod.restarts))] : []),
      ...usage,
    ],
    networkingInfo: { labels: podLabels(workload, pod) },
    resourceVersion: pod.resourceVersion,
    images: imagesOf(pod),
    health: podHealth(pod),
    createdAt: kubernetesTime(pod.createdAt),
  }
}

const info = (name: string, value: string) => ({ name, value })

export function podParent(workload: Workload, pod: Pod): ParentRef {
  const { manifest } = workload
  const set = workload.sets.find(({ hash }) => hash === pod.hash)
  const { namespace } = manifest
  if (hasReplicaSets(manifest) && set) {
    return { group: 'apps', version: 'v1', kind: 'ReplicaSet', namespace, name: set.name, uid: set.uid }
  }
  if (manifest.kind === 'CronJob') {
    return { group: 'batch', version: 'v1', kind: 'Job', namespace, name: runName(pod), uid: runUid(pod) }
  }
  return parentRef(manifest, workload.uid)
}

export function podLabels({ manifest, uid }: Workload, pod: Pod): Record<string, string> {
  if (manifest.kind === 'Job' || manifest.kind === 'CronJob') {
    const names = { 'batch.kubernetes.io/job-name': manifest.name, 'job-name': manifest.name }
    return { 'batch.kubernetes.io/controller-uid': uid, ...names, 'controller-uid': uid }
  }
  return { app: manifest.selector, 'pod-template-hash': pod.hash }
}

/** Pods first: the tree is sorted by group, kind and name. */
function byGroupKindName(a: TreeNode, b: TreeNode): number {
  const key = ({ group = '', kind, name }: TreeNode) => `${group}/${kind}/${name}`
  return key(a) < key(b) ? -1 : 1
}

const host = {
  name: 'fake-node-1',
  resourcesInfo: [
    { resourceName: 'cpu', capacity: 1_000_000 },
    { resourceName: 'memory', capacity: 1_099_511_627_776_000 },
  ],
  systemInfo: {
    machineID: '',
    systemUUID: '',
    bootID: '',
    kernelVersion: 'kwok-0.8.0',
    osImage: '',
    containerRuntimeVersion: 'kwok-0.8.0',
    kubeletVersion: 'kwok-0.8.0',
    kubeProxyVersion: 'kwok-0.8.0',
    operatingSystem: 'linux',
    architecture: 'amd64',
  },
}
