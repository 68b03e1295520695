import type { FileEditor } from './file-edit.ts'
import { kustomizationEditor } from './kustomization-editor.ts'
import { overrideEditor } from './override-editor.ts'
import { yamlEditor } from './yaml-editor.ts'

/** By what a file is to a write-back; the names stand in stored plans. */
export const editors = {
  /** An override file with Helm parameters. */
  helm: overrideEditor('helm'),
  /** An override file with Kustomize images. */
  kustomize: overrideEditor('kustomize'),
  kustomization: kustomizationEditor,
  yaml: yamlEditor,
} as const satisfies Record<string, FileEditor>

export type FileKind = keyof typeof editors
