import { parseDocument } from 'yaml'
import type { Source } from './application.ts'
import type { SourceFiles } from './git-view.ts'

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
type JsonObject = { readonly [key: string]: Json }

export type MergedSource = { kind: 'source'; source: Source } | { kind: 'error'; message: string }

/** Members of a source that an override file cannot change. */
const fixedMembers = ['repoURL', 'path', 'chart', 'targetRevision', 'ref', 'name']
const honouredMembers = ['helm', 'kustomize', 'directory', 'plugin']

/** The two files that may change a source, in the order in which they are read. */
function overrideFileNames(instance: string): readonly [string, string] {
  return ['.argocd-source.yaml', `.argocd-source-${instance}.yaml`]
}

/**
 * Applies the override files of a source's own folder: a JSON merge patch, so maps merge, arrays replace and null deletes.
 *
 * `instance` is the application's name, with `<namespace>_` before it outside the control-plane namespace.
 */
export function mergeSourceParameters(source: Source, files: SourceFiles, instance: string): MergedSource {
  let merged = source
  for (const fileName of overrideFileNames(instance)) {
    const text = files.get(fileName)
    if (text === undefined) continue
    const patch = readPatch(text)
    if (patch.kind === 'error') {
      return {
        kind: 'error',
        message: `error while parsing source parameters: <path to cached source>/${source.path ?? ''}/${fileName}: ${patch.message}`,
      }
    }
    merged = patched(merged, patch.value)
  }
  return { kind: 'source', source: merged }
}

function readPatch(text: string): { kind: 'patch'; value: JsonObject } | { kind: 'error'; message: string } {
  const document = parseDocument(text, { version: '1.1' })
  const failure = document.errors[0]
  if (failure)
    return { kind: 'error', message: `error converting YAML to JSON: yaml: ${failure.message.split('\n')[0]}` }
  const value: unknown = document.toJS() ?? {}
  if (!isJsonObject(value))
    return { kind: 'error', message: 'json: cannot unmarshal value into Go value of type v1alpha1.ApplicationSource' }
  const patch = withKnownKeyCase(value)
  const message = wrongType(patch)
  return message ? { kind: 'error', message } : { kind: 'patch', value: patch }
}

function patched(source: Source, patch: JsonObject): Source {
  const allowed = Object.fromEntries(
    Object.entries(patch).filter(([key]) => honouredMembers.includes(key) && !fixedMembers.includes(key)),
  )
  // The patch has been checked for the members that the model reads; the rest passes through unread.
  return mergePatch(source as unknown as Json, allowed) as unknown as Source
}

/** RFC 7386. */
export function mergePatch(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch
  const result: Record<string, Json> = isJsonObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = mergePatch(result[key] ?? null, value)
  }
  return result
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const knownKeys = ['helm', 'kustomize', 'parameters', 'name', 'value', 'forceString', 'images', 'valueFiles', 'values']

/** Go's decoder does not mind the case of a key. */
function withKnownKeyCase(value: JsonObject): JsonObject {
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => {
    const known = knownKeys.find((name) => name.toLowerCase() === key.toLowerCase()) ?? key
    if (Array.isArray(inner)) return [known, inner.map((item) => (isJsonObject(item) ? withKnownKeyCase(item) : item))]
    return [known, isJsonObject(inner) ? withKnownKeyCase(inner) : inner]
  })
  return Object.fromEntries(entries)
}

function wrongType(patch: JsonObject): string | undefined {
  const parameters = isJsonObject(patch.helm) ? patch.helm.parameters : undefined
  for (const parameter of Array.isArray(parameters) ? parameters : []) {
    for (const member of ['name', 'value']) {
      const value = isJsonObject(parameter) ? parameter[member] : undefined
      if (value === undefined || value === null || typeof value === 'string') continue
      return `json: cannot unmarshal ${goTypeOf(value)} into Go struct field HelmParameter.helm.parameters.${member} of type string`
    }
  }
  const images = isJsonObject(patch.kustomize) ? patch.kustomize.images : undefined
  const image = (Array.isArray(images) ? images : []).find((entry) => typeof entry !== 'string')
  if (image === undefined) return undefined
  return `json: cannot unmarshal ${goTypeOf(image)} into Go struct field ApplicationSourceKustomize.kustomize.images of type v1alpha1.KustomizeImage`
}

function goTypeOf(value: Json): string {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return 'number'
  return Array.isArray(value) ? 'array' : 'object'
}
