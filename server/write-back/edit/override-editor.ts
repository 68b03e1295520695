import { type FileEditor, invalidBecause } from './file-edit.ts'
import { mergeOverrideFile } from './merge-override-file.ts'
import { entriesOf, overrideEntriesIn, parseOverrideFile, type SourceTool } from './parse-override-file.ts'

/** Sets entries of a tool's list in an override file, which is made where there is none. */
export const overrideEditor = (tool: SourceTool): FileEditor => ({
  candidates: (file) => [file],
  read(text, names) {
    try {
      const entries = entriesOf(parseOverrideFile(text ?? ''), tool)
      const values = names.flatMap((name) => {
        const value = entries.get(name)?.value
        return value === undefined ? [] : [[name, value] as const]
      })
      return { kind: 'values', values: new Map(values) }
    } catch (error) {
      return invalidBecause(error)
    }
  },
  set: (text, places, inherited) => mergeOverrideFile(text, places, inherited, tool),
  entriesBeside: (text) => overrideEntriesIn(text, tool),
  describe: ({ name, value }) => (tool === 'helm' ? `${name}=${value}` : value),
})
