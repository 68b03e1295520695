import type { Image } from '../../contract/task.ts'
import type { ManagedApplication } from '../../simulator/model/managed-application.ts'
import { imagesOf, type Manifest, manifestKey, sameManifest } from '../../simulator/model/manifest.ts'
import { hasRollingPods, isRolledOut, type Workload, workloadHealth } from '../../simulator/model/workload.ts'

/**
 * Whether the cluster truly is where the commit that the controller compares with wants it: the objects are those of the
 * commit, every one has observed its newest form and is well, and every wanted image runs, or is what would start next.
 */
export function isTrulyComplete(
  { cluster, target }: Pick<ManagedApplication, 'cluster' | 'target'>,
  wanted: readonly Image[],
): boolean {
  if (target?.manifests === undefined) return false
  const workloads = cluster.list()
  return (
    areApplied(target.manifests, workloads) &&
    workloads.every(isWell) &&
    wanted.every((image) => runs(decidingFor(image, workloads), image))
  )
}

function areApplied(manifests: readonly Manifest[], workloads: readonly Workload[]): boolean {
  const plain = manifests.filter(({ hook }) => hook === undefined)
  const live = new Map(workloads.map((workload) => [manifestKey(workload.manifest), workload]))
  const extra = workloads.filter(({ manifest }) => manifest.hook === undefined).length - plain.length
  return extra === 0 && plain.every((manifest) => isApplied(live.get(manifestKey(manifest)), manifest))
}

function isApplied(workload: Workload | undefined, manifest: Manifest): boolean {
  if (workload === undefined || workload.isDeleting) return false
  return workload.manifest === manifest || sameManifest(workload.manifest, manifest)
}

function isWell(workload: Workload): boolean {
  if (workload.manifest.hook !== undefined) return true
  if (workload.observedGeneration < workload.generation && hasRollingPods(workload.manifest.kind)) return false
  // Pods that only their deletion replaces are as wanted whatever runs in them; which images those are is asked apart.
  const isAsWanted = workload.manifest.updateStrategy === 'OnDelete' || isRolledOut(workload)
  const health = workloadHealth(workload)?.status ?? 'Healthy'
  // Its runs come and go whatever is rolled out; only one that failed says that something is wrong.
  if (workload.manifest.kind === 'CronJob') return health !== 'Degraded'
  return isAsWanted && health === 'Healthy'
}

/** A hook says something of the application only where nothing else has the image. */
function decidingFor({ image }: Image, workloads: readonly Workload[]): readonly Workload[] {
  const named = workloads.filter(({ manifest }) => imagesOf(manifest).some((one) => one.startsWith(`${image}:`)))
  const plain = named.filter(({ manifest }) => manifest.hook === undefined)
  return plain.length > 0 ? plain : named
}

function runs(workloads: readonly Workload[], { image, tag }: Image): boolean {
  const reference = `${image}:${tag}`
  return workloads.some(({ manifest, pods }) => {
    if (
      pods.some(
        (pod) => !pod.isTerminating && (pod.isReady || pod.phase === 'Completed') && imagesOf(pod).includes(reference),
      )
    )
      return true
    const isPodless = manifest.kind === 'CronJob' || manifest.replicas === 0
    return isPodless && imagesOf(manifest).includes(reference)
  })
}

/**
 * Whether only runs of a CronJob have a wanted image, and it starts another one next. They stay listed once they are over, so
 * either verdict is right.
 */
export function isOnlyInEarlierRuns(
  { cluster }: Pick<ManagedApplication, 'cluster'>,
  wanted: readonly Image[],
): boolean {
  return wanted.some(({ image, tag }) => {
    const reference = `${image}:${tag}`
    const running = cluster.list().filter(({ pods }) => pods.some((pod) => imagesOf(pod).includes(reference)))
    const isEarlier = ({ manifest }: Workload) => manifest.kind === 'CronJob' && !imagesOf(manifest).includes(reference)
    return running.length > 0 && running.every(isEarlier)
  })
}

/** Whether a Pod of a wanted image goes on with another tag. */
export function hasOldPods({ cluster }: Pick<ManagedApplication, 'cluster'>, wanted: readonly Image[]): boolean {
  const live = cluster
    .list()
    .flatMap(({ pods }) => pods.filter((pod) => !pod.isTerminating && pod.phase !== 'Completed'))
  return live.some((pod) =>
    imagesOf(pod).some((running) =>
      wanted.some(({ image, tag }) => running.startsWith(`${image}:`) && running !== `${image}:${tag}`),
    ),
  )
}
