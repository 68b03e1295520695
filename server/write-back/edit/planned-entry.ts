import type { FileKind } from './editors.ts'
import { tagOfKustomizeImage, tagOfReference } from './kustomize-image.ts'

/** A place of a file that gets a value with the tag of an image. */
export type PlannedEntry = {
  readonly name: string
  readonly value: string
  readonly image: string
  /** The value is `image:tag`, not the tag alone. */
  readonly isReference?: boolean
}

/** The tag that a value in the place of an entry gives to its image; undefined: none. */
export function tagOf(tool: FileKind, { image, isReference }: PlannedEntry, value: string | undefined) {
  if (value === undefined) return undefined
  if (tool === 'kustomize') return tagOfKustomizeImage(value, image)
  return isReference ? tagOfReference(value, image) : value
}
