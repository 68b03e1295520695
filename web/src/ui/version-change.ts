import { repositoryOf } from '../../../contract/image-name.ts'

type Images = readonly { readonly image: string; readonly tag: string }[]

/** From which version to which; `note` says more of several images. Each part may be empty. */
export type VersionChange = { readonly from: string; readonly to: string; readonly note: string }

/** What a deployment changes; `before` is undefined where it is not known, or nothing was deployed. */
export function versionChange(before: Images | undefined, after: Images): VersionChange {
  const changed = changedImages(before, after)
  const [from, to] = [singleTag(changed.map(({ from }) => ({ tag: from ?? '' }))), singleTag(after)]
  const note = after.length === 1 ? '' : `${after.length} images`
  if (changed.length > 0 && changed.length < after.length)
    return { from: '', to: '', note: `${changed.length} of ${after.length} changed` }
  if (to === undefined) return { from: '', to: after[0]?.tag ?? '', note: moreImages(after.length - 1) }
  return { from: changed.length === 0 ? '' : (from ?? ''), to, note }
}

/** "v1 → v2", "3 of 16 changed" */
export function changeText(change: VersionChange): string {
  const { from, to, note } = change
  return [from === '' ? to : `${from} → ${to}`, note].filter((part) => part !== '').join(', ')
}

/** The images with another tag than before; a new one has no tag from before. Empty where nothing is known. */
export function changedImages(before: Images | undefined, after: Images) {
  if (before === undefined) return []
  const tagBefore = new Map(before.map(({ image, tag }) => [repositoryOf(image), tag] as const))
  return after
    .map(({ image, tag }) => ({ image, tag, from: tagBefore.get(repositoryOf(image)) }))
    .filter(({ tag, from }) => from !== tag)
}

function singleTag(images: readonly { readonly tag: string }[]): string | undefined {
  const tags = new Set(images.map(({ tag }) => tag))
  return tags.size === 1 ? [...tags][0] : undefined
}

const moreImages = (count: number) => `and ${count} more ${count === 1 ? 'image' : 'images'}`
