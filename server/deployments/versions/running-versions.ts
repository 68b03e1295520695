import { splitReference } from '../../../contract/image-name.ts'
import type { Image } from '../../../contract/task.ts'
import type { RunningVersion } from '../../../contract/versions.ts'

/** An image that a task deployed. */
export type DeployedImage = Image & { readonly id: string; readonly created: number; readonly ended: number }

/** What tasks of an application have made of its images. */
export type DeployedImages = {
  /** Of every image and tag that runs the newest task that deployed it, and of every image the newest task. */
  readonly deployed: readonly DeployedImage[]
  readonly unfinished: readonly { readonly id: string; readonly images: readonly Image[] }[]
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

/** What runs, told with the tasks that deployed it. `seenSince` in Unix seconds. */
export function runningVersion(
  reference: string,
  seenSince: number,
  { deployed, unfinished }: DeployedImages,
  { isOfImage, isRunning }: ImageMatch,
): RunningVersion {
  const same = newestOf(deployed.filter((one) => isRunning(one, reference)))
  const last = newestOf(deployed.filter(({ image }) => isOfImage(image, reference)))
  const rollingOut = unfinished.find(({ images }) => images.some((one) => isRunning(one, reference)))
  const isLast = last !== undefined && last.created === same?.created
  const drift = last !== undefined && !isLast && rollingOut === undefined
  const id = isLast ? last.id : (rollingOut?.id ?? same?.id)
  const { name, tag, digest } = partsOf(reference)
  return {
    image: name,
    ...(tag === undefined ? {} : { tag }),
    ...(digest === undefined ? {} : { digest }),
    ...(isLast ? { since: last.ended } : { seen_since: seenSince }),
    ...(id === undefined ? {} : { task_id: id }),
    drift,
    ...(drift ? { deployed_tag: last.tag } : {}),
  }
}

/** Without tag and digest the tag is `latest`, as for a container runtime. */
function partsOf(reference: string) {
  const { name, version } = splitReference(reference)
  const at = reference.indexOf('@')
  const digest = at < 0 ? undefined : reference.slice(at + 1)
  const tag = version === digest ? undefined : version
  return { name, tag: tag === '' ? 'latest' : tag, digest }
}

/** Of one application no two tasks have the same millisecond. */
const newestOf = (images: readonly DeployedImage[]): DeployedImage | undefined =>
  images.reduce<DeployedImage | undefined>(
    (newest, one) => (newest === undefined || one.created > newest.created ? one : newest),
    undefined,
  )
