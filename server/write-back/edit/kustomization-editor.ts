import path from 'node:path'
import type { FileEditor } from './file-edit.ts'
import { overrideEntriesIn } from './parse-override-file.ts'
import type { PathStep } from './value-path.ts'
import { scalarEditor } from './yaml-editor.ts'

/** Kustomize reads the one that is there. */
const fileNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization']

const stepsTo = (image: string, key: string): readonly PathStep[] => [
  { kind: 'key', key: 'images', text: 'images' },
  { kind: 'match', key: 'name', value: image, text: `[name=${image}]` },
  { kind: 'key', key, text: `.${key}` },
]

/** Sets `newTag` of entries of a kustomization's `images`; a place is an image's name. */
export const kustomizationEditor: FileEditor = {
  candidates: (file) => fileNames.map((name) => path.posix.join(path.posix.dirname(file), name)),
  entriesBeside: (text) => overrideEntriesIn(text, 'kustomize'),
  ...scalarEditor({
    stepsOf: (image) => stepsTo(image, 'newTag'),
    mustLack: (image) => ({ steps: stepsTo(image, 'digest'), because: 'it takes the place of a tag' }),
  }),
}
