import type { OverrideEntry } from '../edit/file-edit.ts'

/** One source of an application, as far as the write-back reads it. */
export type ApplicationSource = {
  readonly repository: string
  /** '' means HEAD. */
  readonly targetRevision: string
  /** '' where the source names none. */
  readonly path: string
  readonly chart: string | undefined
  readonly ref: string | undefined
  readonly helmParameters: readonly OverrideEntry[]
  /** As the source spells them, later ones win. */
  readonly helmValueFiles: readonly string[]
  /** `helm.valuesObject` and the YAML of `helm.values`; they win over the files. */
  readonly helmInlineValues: { readonly object: unknown; readonly text: string }
  /** Entries of `kustomize.images`. */
  readonly kustomizeImages: readonly string[]
}

/** An application, as far as the write-back reads it. */
export type WriteBackApplication = {
  readonly name: string
  readonly namespace: string
  readonly annotations: ReadonlyMap<string, string>
  readonly sources: readonly ApplicationSource[]
  readonly isMultiSource: boolean
  /** What each source was found to be, such as `Helm` or `Kustomize`, in the order of `sources`; none or '': not known. */
  readonly sourceTypes: readonly string[]
}

/** undefined: not known. */
export function typeOf(source: ApplicationSource, { sources, sourceTypes }: WriteBackApplication): string | undefined {
  return sourceTypes[sources.indexOf(source)] || undefined
}
