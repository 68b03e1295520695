import { splitReference } from '../../../contract/image-name.ts'
import type { Image } from '../../../contract/task.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'
import type { RunningVersion } from '../../../contract/versions.ts'

/** An image that a task requested. */
export type TaskImage = Image & {
  readonly id: string
  readonly status: TaskStatus
  readonly created: number
  readonly ended: number | null
}

/** How a requested image is found among those that run; a mirror and a digest count. */
export type ImageMatch = {
  readonly isOfImage: (image: string, reference: string) => boolean
  readonly isRunning: (image: Image, reference: string) => boolean
}

/** The tags by which tasks may have requested what runs: `v1`, `v1@sha256:…` or `sha256:…`. */
export function requestedTagsOf(reference: string): readonly string[] {
  const { tag, digest } = partsOf(reference)
  return [tag, digest, tag && digest && `${tag}@${digest}`].filter((text) => text !== undefined)
}

/**
 * What runs, and the task behind it. `seenSince` in Unix seconds. `requested`: of every image the newest task that deployed
 * it, and for every tag that runs the newest tasks that deployed it or tried to.
 */
export function runningVersion(
  reference: string,
  seenSince: number,
  requested: readonly TaskImage[],
  { isOfImage, isRunning }: ImageMatch,
): RunningVersion {
  const same = requested.filter((one) => isRunning(one, reference))
  const deployed = newestOf(same.filter(isDeployed))
  const last = newestOf(requested.filter((one) => isDeployed(one) && isOfImage(one.image, reference)))
  const isLast = last !== undefined && last.created === deployed?.created
  const task = isLast ? last : newestOf(same)
  const drift = last !== undefined && !isLast && task?.status !== 'in progress'
  const { name, tag, digest } = partsOf(reference)
  return {
    image: name,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
    ...(isLast && last.ended !== null ? { since: last.ended } : { seen_since: seenSince }),
    ...(task === undefined ? {} : { task_id: task.id, task_status: task.status }),
    drift,
    ...(drift ? { deployed_tag: last.tag } : {}),
  }
}

const isDeployed = ({ status }: TaskImage) => status === 'deployed'

/** Without tag and digest the tag is `latest`, as for a container runtime. */
function partsOf(reference: string) {
  const { name, version } = splitReference(reference)
  const at = reference.indexOf('@')
  const digest = at < 0 ? undefined : reference.slice(at + 1)
  const tag = version === digest ? undefined : version
  return { name, tag: tag === '' ? 'latest' : tag, digest }
}

/** Of one application no two tasks have the same millisecond. */
const newestOf = (images: readonly TaskImage[]): TaskImage | undefined =>
  images.reduce<TaskImage | undefined>(
    (newest, one) => (newest === undefined || one.created > newest.created ? one : newest),
    undefined,
  )
