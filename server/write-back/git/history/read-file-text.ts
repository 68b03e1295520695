import { FileEditError, type InvalidFile, invalidBecause } from '../../edit/file-edit.ts'
import { maxFileBytes, tooLarge } from '../../edit/yaml-limits.ts'
import type { ObjectReader } from '../access/object-reader.ts'

/** undefined: the revision has none of the files. */
export type FileText = string | InvalidFile | undefined

/** What the first of some files holds that is there at a revision; its size is asked first. */
export async function readFileText(
  reader: ObjectReader,
  revision: string,
  files: readonly string[],
): Promise<FileText> {
  for (const file of files) {
    const name = `${revision}:${file}`
    const found = await reader.inspect(name)
    if (found === undefined) continue
    return found.size > maxFileBytes
      ? invalidBecause(new FileEditError(tooLarge))
      : (await reader.read(name))?.body.toString()
  }
  return undefined
}
