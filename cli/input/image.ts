import type { Image } from '../../contract/task.ts'
import { usageError } from '../exit.ts'

/** `registry.example/shop:1.2.0` as the API has it. @throws {ExitError} */
export function parseImage(text: string): Image {
  if (text.includes('@')) throw usageError(`--image ${text}: must name a tag, not a digest`)
  const colon = text.indexOf(':', text.lastIndexOf('/') + 1)
  if (colon <= 0 || colon === text.length - 1)
    throw usageError(`--image ${text}: must end in a tag, such as ${text.replace(/:$/, '')}:1.2.0`)
  return { image: text.slice(0, colon), tag: text.slice(colon + 1) }
}
