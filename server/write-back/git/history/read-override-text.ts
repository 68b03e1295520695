import { type InvalidOverrideFile, maxOverrideFileBytes, tooLarge } from '../../plan/parse-override-file.ts'
import type { ObjectReader } from '../access/object-reader.ts'

/** undefined: the revision has no such file. */
export type OverrideText = string | InvalidOverrideFile | undefined

/** What an override file holds at a revision; its size is asked first. */
export async function readOverrideText(reader: ObjectReader, revision: string, file: string): Promise<OverrideText> {
  const name = `${revision}:${file}`
  const isTooLarge = ((await reader.inspect(name))?.size ?? 0) > maxOverrideFileBytes
  return isTooLarge ? { kind: 'invalid', reason: tooLarge } : (await reader.read(name))?.body.toString()
}
