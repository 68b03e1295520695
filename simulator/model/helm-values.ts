import { parse } from 'yaml'
import type { HelmParameter } from './application.ts'
import { mergePatch } from './merge-source-parameters.ts'

export type HelmValues = Record<string, unknown>

/** Values files in order, later ones win; then the parameters one by one, as `helm --set` does. */
export function helmValues(valuesFiles: readonly string[], parameters: readonly HelmParameter[]): HelmValues {
  let values: HelmValues = {}
  for (const text of valuesFiles) {
    // YAML yields plain JSON data here; anything else is no values file.
    values = mergePatch(values as never, (parse(text, { version: '1.1' }) ?? {}) as never) as HelmValues
  }
  for (const parameter of parameters) setParameter(values, parameter)
  return values
}

function setParameter(values: HelmValues, { name = '', value = '', forceString }: HelmParameter): void {
  const steps = name.split(/(?<!\\)\./).map((step) => step.replaceAll('\\.', '.'))
  const last = steps.pop()
  if (!last) return
  let at = values
  for (const step of steps) {
    const inner = at[step]
    const next = typeof inner === 'object' && inner !== null ? { ...inner } : {}
    at[step] = next
    at = next
  }
  at[last] = forceString ? value : typedValue(value)
}

/** Without --set-string Helm turns booleans, null and whole numbers into such; the rest stays text. */
function typedValue(value: string): unknown {
  if (value === 'true') return true
  if (value === 'false') return false
  if (value === 'null') return null
  if (/^(0|-?[1-9]\d*)$/.test(value)) return Number(value)
  return value
}

export type Rendered = { kind: 'text'; text: string } | { kind: 'error'; message: string }

/** Replaces `${dotted.path}` by values; a path that does not exist is an error, as a nil pointer is in a template. */
export function renderTemplate(template: string, values: HelmValues): Rendered {
  let failure: string | undefined
  const text = template.replace(/\$\{([^}]+)\}/g, (_, path: string) => {
    const value = valueAt(values, path)
    if (value === undefined || value === null) failure ??= nilPointer(path)
    return String(value)
  })
  return failure ? { kind: 'error', message: failure } : { kind: 'text', text }
}

function valueAt(values: HelmValues, path: string): unknown {
  let at: unknown = values
  for (const step of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined
    at = Reflect.get(at, step)
  }
  return at
}

function nilPointer(path: string): string {
  return `executing "templates/workloads.yaml" at <.Values.${path}>:\n    nil pointer evaluating interface {}.${path.split('.').at(-1)}`
}
