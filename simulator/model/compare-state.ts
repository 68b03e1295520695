import type { Health, HealthCode, ResourceStatus, SyncStatusCode } from './application.ts'
import { type Manifest, manifestKey, sameManifest } from './manifest.ts'
import { type Workload, workloadHealth } from './workload.ts'

export type Comparison = {
  syncStatus: Exclude<SyncStatusCode, ''>
  health: HealthCode
  /** As stored: without health, which the server adds from the resource tree when it answers. */
  resources: readonly ResourceStatus[]
  outOfSync: readonly Manifest[]
}

type Compared = { status: ResourceStatus; health: Health | undefined; manifest: Manifest }

/**
 * Compares what a commit wants with what the controller's live cache holds.
 *
 * `targets` undefined: the commit could not be rendered. `observed` may lag behind `workloads`.
 */
export function compareState(
  targets: readonly Manifest[] | undefined,
  observed: ReadonlyMap<string, Manifest>,
  workloads: readonly Workload[],
): Comparison {
  const live = new Map(workloads.map((workload) => [manifestKey(workload.manifest), workload]))
  const managed = (targets ?? []).filter(({ hook }) => hook === undefined)
  const wantedKeys = new Set(managed.map(manifestKey))
  const compared = [
    ...managed.map((target) => compareOne(target, observed.get(manifestKey(target)), live.get(manifestKey(target)))),
    ...workloads
      .filter(({ manifest }) => manifest.hook !== undefined || !wantedKeys.has(manifestKey(manifest)))
      .map((workload) => extraResource(workload, targets !== undefined)),
  ].sort(byGroupKindName)
  const plain = compared.filter(({ status }) => !status.hook)
  return {
    syncStatus: overallSync(targets, plain),
    health: overallHealth(plain),
    resources: compared.map(({ status }) => status),
    outOfSync: plain.filter(({ status }) => status.status === 'OutOfSync').map(({ manifest }) => manifest),
  }
}

function compareOne(target: Manifest, observed: Manifest | undefined, workload: Workload | undefined): Compared {
  const isSynced =
    observed !== undefined && workload !== undefined && !workload.isDeleting && sameManifest(observed, target)
  return {
    status: resourceStatus(target, isSynced ? 'Synced' : 'OutOfSync'),
    health: workload && observed ? workloadHealth(workload) : { status: 'Missing' },
    manifest: target,
  }
}

function extraResource(workload: Workload, isRendered: boolean): Compared {
  const { manifest } = workload
  const isHook = manifest.hook !== undefined
  const sync = isRendered ? 'OutOfSync' : 'Unknown'
  return {
    status: {
      ...resourceStatus(manifest, isHook ? undefined : sync),
      hook: isHook || undefined,
      requiresPruning: true,
    },
    health: workloadHealth(workload),
    manifest,
  }
}

function resourceStatus(manifest: Manifest, status: SyncStatusCode | undefined): ResourceStatus {
  return {
    group: manifest.group === '' ? undefined : manifest.group,
    version: manifest.version,
    kind: manifest.kind,
    namespace: manifest.namespace,
    name: manifest.name,
    status,
    health: undefined,
    hook: undefined,
    requiresPruning: undefined,
    syncWave: manifest.wave === 0 ? undefined : manifest.wave,
  }
}

function overallSync(targets: readonly Manifest[] | undefined, plain: readonly Compared[]): Comparison['syncStatus'] {
  if (!targets) return 'Unknown'
  return plain.every(({ status }) => status.status === 'Synced') ? 'Synced' : 'OutOfSync'
}

const byBadness: readonly HealthCode[] = ['Healthy', 'Suspended', 'Progressing', 'Missing', 'Degraded', 'Unknown']

/** The worst health of the managed resources; missing ones count only when everything is missing (3.4 and later). */
function overallHealth(plain: readonly Compared[]): HealthCode {
  const known = plain.flatMap(({ health }) => (health ? [health.status] : []))
  const present = known.filter((status) => status !== 'Missing')
  if (present.length === 0 && known.length > 0) return 'Missing'
  return byBadness[Math.max(0, ...present.map((status) => byBadness.indexOf(status)))] ?? 'Unknown'
}

function byGroupKindName(a: Compared, b: Compared): number {
  return manifestKey(a.manifest) < manifestKey(b.manifest) ? -1 : 1
}

/** Adds to each resource the health that the resource tree shows now. */
export function withResourceHealth(
  resources: readonly ResourceStatus[] | undefined,
  workloads: readonly Workload[],
): readonly ResourceStatus[] | undefined {
  const live = new Map(workloads.map((workload) => [manifestKey(workload.manifest), workload]))
  return resources?.map((resource) => {
    const workload = live.get(manifestKey({ ...resource, group: resource.group ?? '' }))
    const health: Health | undefined = workload
      ? workloadHealth(workload)
      : resource.hook
        ? undefined
        : { status: 'Missing' }
    return { ...resource, health }
  })
}
