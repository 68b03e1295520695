import type { Manifest } from './manifest.ts'
import { manifestKey, sameManifest } from './manifest.ts'
import type { Workload } from './workload.ts'

/** One entry of `managed-resources`: states are JSON texts, as the API has them. Hooks are left out. */
export type ManagedResource = {
  group?: string | undefined
  kind: string
  namespace: string
  name: string
  targetState?: string | undefined
  liveState: string
  normalizedLiveState: string
  predictedLiveState: string
  resourceVersion?: string | undefined
  modified?: boolean | undefined
}

export function renderManagedResources(
  application: string,
  targets: readonly Manifest[],
  workloads: readonly Workload[],
): readonly ManagedResource[] {
  const live = new Map(workloads.map((workload) => [manifestKey(workload.manifest), workload]))
  return targets
    .filter(({ hook }) => hook === undefined)
    .map((target) => managedResource(application, target, live.get(manifestKey(target))))
}

function managedResource(application: string, target: Manifest, workload: Workload | undefined): ManagedResource {
  const liveState = workload ? JSON.stringify(kubernetesObject(application, workload.manifest, workload)) : 'null'
  const modified = !workload || !sameManifest(workload.manifest, target)
  return {
    group: target.group === '' ? undefined : target.group,
    kind: target.kind,
    namespace: target.namespace,
    name: target.name,
    targetState: JSON.stringify(kubernetesObject(application, target)),
    liveState,
    normalizedLiveState: liveState,
    predictedLiveState: modified ? JSON.stringify(kubernetesObject(application, target, workload)) : liveState,
    resourceVersion: workload?.resourceVersion,
    modified: modified || undefined,
  }
}

/** The object as the Kubernetes API would show it, with the members that anybody reads. */
export function kubernetesObject(application: string, manifest: Manifest, workload?: Workload) {
  const { group, version, kind, namespace, name } = manifest
  return {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind,
    metadata: {
      annotations: { 'argocd.argoproj.io/tracking-id': `${application}:${group}/${kind}:${namespace}/${name}` },
      ...(workload ? { generation: workload.generation } : {}),
      name,
      namespace,
      ...(workload ? { resourceVersion: workload.resourceVersion, uid: workload.uid } : {}),
    },
    spec: specOf(manifest),
  }
}

function specOf(manifest: Manifest): Record<string, unknown> {
  const { kind, replicas, selector, schedule } = manifest
  const template = { spec: podSpec(manifest) }
  if (kind === 'CronJob') return { jobTemplate: { spec: { template } }, schedule: schedule ?? '0 0 1 1 *' }
  if (kind === 'Job') return { template }
  if (manifest.containers.length === 0) return { selector: { app: selector } }
  return {
    replicas,
    selector: { matchLabels: { app: selector } },
    template: { metadata: { labels: { app: selector } }, ...template },
  }
}

function podSpec({ containers, initContainers }: Manifest): Record<string, unknown> {
  const list = containers.map(({ name, image }) => ({ image, name }))
  if (initContainers.length === 0) return { containers: list }
  return { containers: list, initContainers: initContainers.map(({ name, image }) => ({ image, name })) }
}
