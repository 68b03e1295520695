import { repositoryOf } from '../../../contract/image-name.ts'
import type { Image } from '../../../contract/task.ts'

/** What the commit of a failed task wrote: its entries with their values, and what they had before, by name. */
export type FailedWrite = {
  readonly entries: readonly { readonly name: string; readonly value: string; readonly image: string }[]
  readonly replaced: Readonly<Record<string, string | null>>
}

type DeployedTask = { readonly id: string; readonly images: readonly Image[] }

/**
 * Which images bring back what the commit of a failed task replaced. An image comes back if the newest task before that
 * deployed it (`deployed`, by repository) had the very tag that the commit replaced; all of them do, or none.
 */
export function planRollback(
  images: readonly Image[],
  write: FailedWrite | undefined,
  deployed: ReadonlyMap<string, DeployedTask>,
): { readonly images: readonly Image[]; readonly target: string } | { readonly refusal: string } {
  if (write === undefined) return { refusal: 'it made no commit of its own' }
  const back: Image[] = []
  let target = ''
  for (const { image, tag } of images) {
    const before = deployed.get(repositoryOf(image))
    const tagBefore = before?.images.find((one) => repositoryOf(one.image) === repositoryOf(image))?.tag
    if (before === undefined || tagBefore === undefined)
      return { refusal: `no version of ${image} was deployed before` }
    const entries = write.entries.filter((entry) => entry.image === image)
    if (entries.length === 0) return { refusal: `its commit did not set ${image}` }
    for (const { name, value } of entries) {
      const valueBefore = `${value.slice(0, value.length - tag.length)}${tagBefore}`
      if (write.replaced[name] !== valueBefore)
        return {
          refusal: `its commit replaced another version of ${image} than ${tagBefore}, which was deployed before`,
        }
    }
    back.push({ image, tag: tagBefore })
    if (before.id > target) target = before.id // ids sort by their time
  }
  if (back.every(({ tag }, at) => tag === images[at]?.tag)) return { refusal: 'its commit changed no version' }
  return { images: back, target }
}
