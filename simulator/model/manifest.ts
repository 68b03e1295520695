import { z } from 'zod'

export type Container = { name: string; image: string }

/** As Argo Rollouts has them; a pause without a duration, in seconds, waits for a person. */
export type RolloutStep =
  | { readonly setWeight: number }
  | { readonly pause: { readonly duration?: number | undefined } }
  | { readonly analysis: string }

/** What a commit wants in the cluster: one object, reduced to what the model acts on. */
export type Manifest = {
  group: string
  version: string
  kind: string
  namespace: string
  name: string
  replicas: number
  containers: readonly Container[]
  initContainers: readonly Container[]
  wave: number
  hook: 'PreSync' | 'PostSync' | undefined
  /** A Deployment's selector cannot be changed. */
  selector: string
  schedule: string | undefined
  progressDeadlineSeconds: number | undefined
  terminationSeconds: number | undefined
  updateStrategy: 'RollingUpdate' | 'OnDelete'
  /** Of a Rollout. */
  strategy: 'Canary' | 'BlueGreen'
  steps: readonly RolloutStep[]
  /** An Ingress or a Service of type LoadBalancer without an address, a PersistentVolumeClaim without a volume. */
  pending: boolean
  /** Argo CD deletes it only once a person agrees. */
  pruneNeedsConfirmation: boolean
}

const containerSchema = z.object({ name: z.string().optional(), image: z.string() })

/** One entry of `workloads.yaml`, the simulator's stand-in for templates. */
export const workloadSchema = z.object({
  kind: z.string().default('Deployment'),
  group: z.string().optional(),
  version: z.string().optional(),
  name: z.string().optional(),
  replicas: z.coerce.number().int().min(0).default(1),
  image: z.string().optional(),
  containers: z.array(containerSchema).default([]),
  initContainers: z.array(containerSchema).default([]),
  wave: z.number().int().default(0),
  hook: z.enum(['PreSync', 'PostSync']).optional(),
  selector: z.string().optional(),
  schedule: z.string().optional(),
  progressDeadlineSeconds: z.number().optional(),
  terminationSeconds: z.number().optional(),
  updateStrategy: z.enum(['RollingUpdate', 'OnDelete']).default('RollingUpdate'),
  /** Short for the steps of a Rollout that waits for a promotion after its first new Pod. */
  pause: z.boolean().default(false),
  strategy: z.enum(['Canary', 'BlueGreen']).default('Canary'),
  steps: z
    .array(
      z.union([
        z.object({ setWeight: z.number() }),
        z.object({ pause: z.object({ duration: z.number().optional() }) }),
        z.object({ analysis: z.string() }),
      ]),
    )
    .optional(),
  pending: z.boolean().default(false),
  prune: z.enum(['confirm']).optional(),
})

export const workloadsSchema = z.object({ workloads: z.array(workloadSchema) })

const knownKinds: Record<string, { group: string; version: string }> = {
  Deployment: { group: 'apps', version: 'v1' },
  StatefulSet: { group: 'apps', version: 'v1' },
  DaemonSet: { group: 'apps', version: 'v1' },
  ReplicaSet: { group: 'apps', version: 'v1' },
  Job: { group: 'batch', version: 'v1' },
  CronJob: { group: 'batch', version: 'v1' },
  Service: { group: '', version: 'v1' },
  ConfigMap: { group: '', version: 'v1' },
  PersistentVolumeClaim: { group: '', version: 'v1' },
  Ingress: { group: 'networking.k8s.io', version: 'v1' },
  Rollout: { group: 'argoproj.io', version: 'v1alpha1' },
  /** A custom resource with an operator that makes Pods of it. */
  Widget: { group: 'example.org', version: 'v1' },
}

/** Whether the cluster serves this kind; applying any other fails. */
export function isServedKind(manifest: Pick<Manifest, 'kind' | 'group'>): boolean {
  return knownKinds[manifest.kind]?.group === manifest.group
}

export function toManifest(
  workload: z.infer<typeof workloadSchema>,
  application: { name: string; namespace: string },
): Manifest {
  const name = workload.name ?? application.name
  const containers = [...(workload.image ? [{ name: 'web', image: workload.image }] : []), ...workload.containers]
  return {
    group: workload.group ?? knownKinds[workload.kind]?.group ?? '',
    version: workload.version ?? knownKinds[workload.kind]?.version ?? 'v1',
    kind: workload.kind,
    namespace: application.namespace,
    name,
    replicas: workload.replicas,
    containers: named(containers, 'web'),
    initContainers: named(workload.initContainers, 'init'),
    wave: workload.wave,
    hook: workload.hook,
    selector: workload.selector ?? name,
    schedule: workload.schedule,
    progressDeadlineSeconds: workload.progressDeadlineSeconds,
    terminationSeconds: workload.terminationSeconds,
    updateStrategy: workload.updateStrategy,
    strategy: workload.strategy,
    steps: workload.steps ?? defaultSteps(workload),
    pending: workload.pending,
    pruneNeedsConfirmation: workload.prune === 'confirm',
  }
}

function defaultSteps({ strategy, pause }: z.infer<typeof workloadSchema>): readonly RolloutStep[] {
  if (strategy === 'BlueGreen') return [{ setWeight: 100 }, { pause: {} }]
  return pause ? [{ setWeight: 1 }, { pause: {} }] : []
}

function named(containers: readonly { name?: string | undefined; image: string }[], prefix: string): Container[] {
  return containers.map(({ name, image }, index) => ({
    name: name ?? (index === 0 ? prefix : `${prefix}-${index + 1}`),
    image,
  }))
}

export function manifestKey({ group, kind, namespace, name }: Pick<Manifest, 'group' | 'kind' | 'namespace' | 'name'>) {
  return `${group}/${kind}/${namespace}/${name}`
}

/** How the real server names resources in its messages, such as `apps/Deployment/shop and 2 more resources`. */
export function resourceLabels(manifests: readonly Manifest[], plural: 'resources' | 'hooks'): string {
  const [first] = manifests
  const label = `${first?.group}/${first?.kind}/${first?.name}`
  return manifests.length < 2 ? label : `${label} and ${manifests.length - 1} more ${plural}`
}

/** How kubectl names it, such as `deployment.apps/shop`. */
export function kubectlLabel({ group, kind, name }: Pick<Manifest, 'group' | 'kind' | 'name'>): string {
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${name}`
}

export function imagesOf(manifest: Pick<Manifest, 'containers' | 'initContainers'>): string[] {
  return sortedUnique([...manifest.containers, ...manifest.initContainers].map(({ image }) => image))
}

export function sortedUnique(values: Iterable<string>): string[] {
  return [...new Set(values)].sort()
}

export function sameManifest(a: Manifest, b: Manifest): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
