import { repositoryOf } from '../../../../contract/image-name.ts'
import type { Image } from '../../../../contract/task.ts'
import type { RolloutSettings } from '../input/rollout-settings.ts'

/** An image as Kubernetes reads it: registry and `library/` filled in. */
export type ImageReference = {
  readonly repository: string
  readonly tag: string | undefined
  readonly digest: string | undefined
}

/** Reads `[registry/]path[:tag][@digest]`. Without tag and digest the tag is `latest`, as for a container runtime. */
export function parseImageReference(text: string): ImageReference {
  const at = text.indexOf('@')
  const digest = at < 0 ? undefined : text.slice(at + 1)
  const named = at < 0 ? text : text.slice(0, at)
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const tag = colon < 0 ? undefined : named.slice(colon + 1)
  const repository = repositoryOf(colon < 0 ? named : named.slice(0, colon))
  return { repository, tag: tag ?? (digest === undefined ? 'latest' : undefined), digest }
}

type ImageSettings = Pick<RolloutSettings, 'registryProxy'>

/** The images of the requested repository, whatever their tags. `<proxy>/<image>` counts as `<image>`. */
export function imagesOf(
  requested: Pick<Image, 'image'>,
  images: readonly string[],
  settings: ImageSettings,
): readonly string[] {
  const name = parseImageReference(requested.image).repository
  return images.filter((image) => candidates(image, settings).some(({ repository }) => repository === name))
}

/** Whether one of the images is exactly what was requested. What a requested tag says of a digest is compared with the digest. */
export function isImageRunning(requested: Image, images: readonly string[], settings: ImageSettings): boolean {
  const name = parseImageReference(requested.image).repository
  const requestedTag = readRequestedTag(requested.tag)
  return images.some((image) =>
    candidates(image, settings).some(
      ({ repository, tag, digest }) =>
        repository === name &&
        (requestedTag.tag === undefined || tag === requestedTag.tag) &&
        (requestedTag.digest === undefined || digest === requestedTag.digest),
    ),
  )
}

/** Reads `v1`, `v1@sha256:…` and `sha256:…`. */
function readRequestedTag(text: string): Pick<ImageReference, 'tag' | 'digest'> {
  if (text.startsWith('sha256:')) return { tag: undefined, digest: text }
  const at = text.indexOf('@')
  return at < 0 ? { tag: text, digest: undefined } : { tag: text.slice(0, at), digest: text.slice(at + 1) }
}

function candidates(running: string, { registryProxy }: ImageSettings): readonly ImageReference[] {
  const proxy = registryProxy?.replace(/^https?:\/\//, '').replace(/(?<!\/)\/+$/, '')
  const asIs = parseImageReference(running)
  if (proxy === undefined || proxy === '' || !running.startsWith(`${proxy}/`)) return [asIs]
  return [asIs, parseImageReference(running.slice(proxy.length + 1))]
}
