import type { Application } from './application.ts'
import type { ControllerContext } from './controller-context.ts'
import type { ManagedApplication, TruthMoment } from './managed-application.ts'
import { imagesOf, type Manifest, manifestKey, sameManifest, sortedUnique } from './manifest.ts'
import { renderTarget, resolveRevisions } from './resolve-target.ts'
import { workloadHealth } from './workload.ts'

/** What is really so, whatever the API says: the measure for verdicts. */
export type Truth = {
  /** Commits that the sources point at now, and the images they ask for. */
  desiredRevisions: readonly string[]
  desiredImages: readonly string[]
  /** Images of ready Pods, and of Pods that ended well. */
  runningImages: readonly string[]
  /** Images of all Pods that exist, the terminating ones included. */
  presentImages: readonly string[]
  appliedRevisions: readonly string[]
  /** The applied objects are what the newest commits ask for. */
  isSynced: boolean
  /** Every workload has exactly its wanted Pods, all ready. */
  isRolledOut: boolean
  isHealthy: boolean
  history: readonly TruthMoment[]
}

export async function truthOf(
  context: ControllerContext,
  managed: ManagedApplication,
  application: Application,
): Promise<Truth> {
  const gitNow = { resolve: (repoUrl: string, revision: string) => context.git.resolve(repoUrl, revision) }
  const resolved = await resolveRevisions(application.spec, gitNow, 3)
  const desiredRevisions = resolved.kind === 'revisions' ? resolved.revisions : []
  const target = await renderTarget(context.git, context.renderingOf(application), desiredRevisions)
  const desired = (target.manifests ?? []).filter(({ hook }) => hook === undefined)
  const workloads = managed.cluster.list()
  return {
    desiredRevisions,
    desiredImages: sortedUnique(desired.flatMap(imagesOf)),
    runningImages: managed.cluster.runningImages(),
    presentImages: managed.cluster.images(),
    appliedRevisions: managed.appliedRevisions,
    isSynced: target.manifests !== undefined && desired.every((manifest) => isApplied(managed, manifest)),
    isRolledOut: managed.cluster.isRolledOut(),
    isHealthy: workloads.every((workload) => (workloadHealth(workload)?.status ?? 'Healthy') === 'Healthy'),
    history: managed.truth,
  }
}

function isApplied({ cluster }: ManagedApplication, manifest: Manifest): boolean {
  const live = cluster.get(manifestKey(manifest))
  return live !== undefined && sameManifest(live.manifest, manifest)
}
