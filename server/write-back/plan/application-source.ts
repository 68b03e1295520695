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
  /** Entries of `kustomize.images`. */
  readonly kustomizeImages: readonly string[]
}

/** What renders a source, where an override file can set tags for it. */
export type SourceTool = 'helm' | 'kustomize'

/** A Helm parameter; or an entry of `kustomize.images`: by the name it finds its image by, the value is the whole entry. */
export type OverrideEntry = { readonly name: string; readonly value: string; readonly forceString: boolean }

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
