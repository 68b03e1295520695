import { quote } from '../../../contract/fields.ts'
import type { FileKind } from '../edit/editors.ts'

/** What the annotation write-back-target names; paths are as it spells them. */
export type WriteBackTarget =
  | { readonly kind: 'override' }
  | { readonly kind: 'helmvalues' | 'yaml'; readonly path: string }
  /** `path`: of the directory. */
  | { readonly kind: 'kustomization'; readonly path: string }

export type FileTarget = Exclude<WriteBackTarget, { kind: 'override' }>

/** How an annotation of an alias is read: what its value names, and what is written there. */
export type PlaceAnnotation = {
  readonly suffix: string
  readonly tool: FileKind
  readonly names: 'path' | 'image'
  readonly isReference: boolean
}

const place = (suffix: string, tool: FileKind): PlaceAnnotation => ({
  suffix,
  tool,
  names: suffix === 'kustomize.image-name' ? 'image' : 'path',
  isReference: suffix === 'helm.image-spec' || suffix === 'yaml.image',
})

/** The annotations that an alias may have for each kind of target. */
export const placeAnnotations: Readonly<Record<WriteBackTarget['kind'], readonly PlaceAnnotation[]>> = {
  override: [
    place('helm.image-tag', 'helm'),
    place('helm.image-spec', 'helm'),
    place('kustomize.image-name', 'kustomize'),
  ],
  helmvalues: [place('helm.image-tag', 'yaml'), place('helm.image-spec', 'yaml')],
  kustomization: [place('kustomize.image-name', 'kustomization')],
  yaml: [place('yaml.image-tag', 'yaml'), place('yaml.image', 'yaml')],
}

export const placeSuffixes: readonly string[] = [
  ...new Set(Object.values(placeAnnotations).flatMap((annotations) => annotations.map(({ suffix }) => suffix))),
]

export type TargetRead = { readonly target: WriteBackTarget; readonly issue?: string }

/** Reads the annotation; the words are those of Argo CD Image Updater. */
export function readTarget(value: string | undefined): TargetRead {
  if (value === undefined) return { target: { kind: 'override' } }
  const [, kind = '', path] = /^\s*([a-z]+)\s*(?::(.*))?$/s.exec(value) ?? []
  const named = path?.trim() ?? ''
  if (kind === 'kustomization' && (path === undefined || named !== '')) {
    return { target: { kind, path: named === '' ? '.' : named } }
  }
  if ((kind === 'helmvalues' || kind === 'yaml') && named !== '') return { target: { kind, path: named } }
  const forms = 'helmvalues:<file>, kustomization, kustomization:<directory> or yaml:<file>'
  return { target: { kind: 'override' }, issue: `annotation write-back-target is ${quote(value)}: must be ${forms}` }
}
