import path from 'node:path'
import { parse, parseDocument } from 'yaml'
import type { Source } from './application.ts'
import { type SourceFiles, tidyPath } from './git-view.ts'
import { helmValues, renderTemplate } from './helm-values.ts'
import { applyKustomizeImages } from './kustomize-images.ts'
import { type Manifest, toManifest, workloadsSchema } from './manifest.ts'
import { mergeSourceParameters } from './merge-source-parameters.ts'
import { plainManifests } from './plain-manifests.ts'

/** A source with the files of its own folder, and the whole tree where its values files leave that. */
export type FetchedSource = { source: Source; files: SourceFiles | undefined; tree?: SourceFiles | undefined }

export type RenderedSources =
  | { kind: 'manifests'; manifests: readonly Manifest[]; sourceTypes: readonly string[] }
  | { kind: 'error'; message: string }

export type Instance = { name: string; instanceName: string; destinationNamespace: string }

type Trees = { readonly tree: SourceFiles | undefined; readonly refTrees: ReadonlyMap<string, SourceFiles> }

class RenderError extends Error {
  override readonly name = 'RenderError'
}

/** What a set of sources wants in the cluster, or the message of the condition `ComparisonError`. */
export function renderSources(
  fetched: readonly FetchedSource[],
  refTrees: ReadonlyMap<string, SourceFiles>,
  instance: Instance,
): RenderedSources {
  const manifests: Manifest[] = []
  const sourceTypes: string[] = []
  for (const [index, { source, files, tree }] of fetched.entries()) {
    if (isReferenceOnly(source)) {
      sourceTypes.push('')
      continue
    }
    try {
      const rendered = renderSource(source, files, { tree, refTrees }, instance)
      manifests.push(...rendered.manifests)
      sourceTypes.push(rendered.sourceType)
    } catch (error) {
      if (!(error instanceof RenderError)) throw error
      const place = `source ${index + 1} of ${fetched.length}`
      return {
        kind: 'error',
        message: `Failed to load target state: failed to generate manifest for ${place}: rpc error: code = Unknown desc = ${error.message}`,
      }
    }
  }
  return { kind: 'manifests', manifests, sourceTypes }
}

/** A source with a `ref` and no path lends its files to others and renders nothing. */
export function isReferenceOnly(source: Source): boolean {
  return source.ref !== undefined && source.path === undefined && source.chart === undefined
}

function renderSource(
  source: Source,
  files: SourceFiles | undefined,
  trees: Trees,
  instance: Instance,
): { manifests: Manifest[]; sourceType: string } {
  if (!files) throw new RenderError(`${source.path ?? ''}: app path does not exist`)
  const merged = mergeSourceParameters(source, files, instance.instanceName)
  if (merged.kind === 'error') throw new RenderError(`error getting app source type: ${merged.message}`)
  const sourceType = sourceTypeOf(merged.source, files)
  const text = files.get('workloads.yaml') ?? 'workloads: []'
  if (sourceType === 'Helm') return { manifests: renderHelm(merged.source, files, trees, text, instance), sourceType }
  const manifests = [...readWorkloads(text, instance), ...plainManifests(files, instance)]
  if (sourceType !== 'Kustomize') return { manifests, sourceType }
  const kustomization = kustomizationOf(files)
  if (kustomization === undefined) throw new RenderError(noKustomization)
  const images = [...(merged.source.kustomize?.images ?? []), ...kustomizationImages(kustomization)]
  return { manifests: manifests.map((manifest) => withImages(manifest, images)), sourceType }
}

const noKustomization =
  "`kustomize build <path to cached source>` failed exit status 1: Error: unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory"

function sourceTypeOf(source: Source, files: SourceFiles): string {
  const explicit = [
    source.kustomize && 'Kustomize',
    source.helm && 'Helm',
    source.directory && 'Directory',
    source.plugin && 'Plugin',
  ].filter((type) => type !== undefined)
  if (explicit.length > 1) {
    throw new RenderError(`error getting app source type: multiple application sources defined: ${explicit.join(',')}`)
  }
  if (explicit[0]) return explicit[0]
  if (files.has('Chart.yaml')) return 'Helm'
  return kustomizationOf(files) === undefined ? 'Directory' : 'Kustomize'
}

function renderHelm(
  source: Source,
  files: SourceFiles,
  trees: Trees,
  template: string,
  instance: Instance,
): Manifest[] {
  if (!files.has('Chart.yaml')) throw helmFailure(instance, 'Error: Chart.yaml file is missing')
  const valuesFiles = [files.get('values.yaml') ?? '{}', ...namedValuesFiles(source, files, trees, instance)]
  if (source.helm?.values) valuesFiles.push(source.helm.values)
  const values = helmValues(
    valuesFiles.map((text) => checkedYaml(text, instance)),
    source.helm?.parameters ?? [],
  )
  const rendered = renderTemplate(template, values)
  if (rendered.kind === 'error') {
    throw helmFailure(instance, `Error: ${rendered.message}\n\nUse --debug flag to render out invalid YAML`)
  }
  return readWorkloads(rendered.text, instance)
}

function namedValuesFiles(source: Source, files: SourceFiles, { tree, refTrees }: Trees, instance: Instance): string[] {
  return (source.helm?.valueFiles ?? []).flatMap((name) => {
    const [, ref, below] = /^\$([^/]+)\/(.+)$/.exec(name) ?? []
    const own = leavesFolder(name) ? tree?.get(placeInTree(source, name)) : files.get(tidyPath(name))
    const text = ref && below ? refTrees.get(ref)?.get(tidyPath(below)) : own
    if (text !== undefined) return [text]
    if (source.helm?.ignoreMissingValueFiles) return []
    throw helmFailure(instance, `Error: open ${name}: no such file or directory`)
  })
}

/** A values file may lie anywhere in the repository of its chart. */
export const leavesFolder = (name: string): boolean => name.startsWith('/') || name.split('/').includes('..')

const placeInTree = ({ path: folder = '' }: Source, name: string): string =>
  tidyPath(path.posix.join('/', name.startsWith('/') ? '' : folder, name))

function checkedYaml(text: string, instance: Instance): string {
  const failure = parseDocument(text, { version: '1.1' }).errors[0]
  if (failure) throw helmFailure(instance, `Error: failed to parse values.yaml: ${failure.message.split('\n')[0]}`)
  return text
}

function helmFailure({ name, destinationNamespace }: Instance, output: string): RenderError {
  const command = `helm template . --name-template ${name} --namespace ${destinationNamespace} --include-crds`
  return new RenderError(
    `failed to execute helm template command: failed running helm: \`${command}\` failed exit status 1: ${output}`,
  )
}

function readWorkloads(text: string, { name, destinationNamespace }: Instance): Manifest[] {
  const document = parseDocument(text)
  const read = document.errors[0] ?? workloadsSchema.safeParse(document.toJS() ?? { workloads: [] })
  if (read instanceof Error) throw new RenderError(`failed to unmarshal manifest: ${read.message.split('\n')[0]}`)
  if (!read.success) throw new RenderError(`failed to unmarshal manifest: ${read.error.issues[0]?.message}`)
  return read.data.workloads.map((workload) => toManifest(workload, { name, namespace: destinationNamespace }))
}

const kustomizationOf = (files: SourceFiles): string | undefined =>
  ['kustomization.yaml', 'kustomization.yml', 'Kustomization']
    .map((name) => files.get(name))
    .find((text) => text !== undefined)

function kustomizationImages(text: string): string[] {
  const kustomization: unknown = parse(text)
  const images = typeof kustomization === 'object' && kustomization && Reflect.get(kustomization, 'images')
  return (Array.isArray(images) ? images : []).map(
    (entry) => `${entry.name}${entry.newName ? `=${entry.newName}` : ''}${entry.newTag ? `:${entry.newTag}` : ''}`,
  )
}

function withImages(manifest: Manifest, entries: readonly string[]): Manifest {
  const changed = ({ name, image }: { name: string; image: string }) => ({
    name,
    image: applyKustomizeImages(image, entries),
  })
  return {
    ...manifest,
    containers: manifest.containers.map(changed),
    initContainers: manifest.initContainers.map(changed),
  }
}
