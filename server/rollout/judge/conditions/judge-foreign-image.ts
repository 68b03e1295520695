import type { Image } from '../../../../contract/task.ts'
import { appliedImages } from '../../observed/observed-application.ts'
import type { JudgeInput } from '../input/judge-input.ts'
import { hasHooks } from './applied-images.ts'
import type { Conditions } from './conditions.ts'
import { imagesOf } from './image-reference.ts'

export type ForeignImageCheck =
  | { readonly kind: 'part_of_it' }
  | { readonly kind: 'must_read' }
  | { readonly kind: 'cannot_tell'; readonly note: string }
  | { readonly kind: 'foreign'; readonly image: Image; readonly has: readonly string[] }

/** Whether a requested image can ever appear: asked when all is well but the images. */
export function checkForeignImage(
  { application, task, settings, observation }: JudgeInput,
  conditions: Conditions,
): ForeignImageCheck {
  if (!conditions.othersAreMet || conditions.isMet('images')) return { kind: 'part_of_it' }
  const listed = [...application.images, ...appliedImages(application)]
  const unlisted = task.images.find((image) => imagesOf(image, listed, settings).length === 0)
  if (unlisted === undefined) return { kind: 'part_of_it' }
  const { managed } = observation
  if (managed === undefined) return { kind: 'must_read' }
  if (managed.value === undefined) return { kind: 'cannot_tell', note: 'the manifests could not be read' }
  const inManifests = [...managed.value.liveImages, ...managed.value.declaredImages]
  if (inManifests.length === 0) return { kind: 'cannot_tell', note: 'the manifests name no image' }
  if (hasHooks(application)) return { kind: 'cannot_tell', note: 'hooks may use other images' }
  if (managed.value.hasForeignKinds) return { kind: 'cannot_tell', note: 'custom resources may use other images' }
  if (imagesOf(unlisted, inManifests, settings).length > 0) return { kind: 'part_of_it' }
  return { kind: 'foreign', image: unlisted, has: [...new Set([...listed, ...inManifests])] }
}
