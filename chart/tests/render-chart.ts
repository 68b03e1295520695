import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'

export const chart = fileURLToPath(new URL('..', import.meta.url))

/** The files of chart/ci/ without their ending. */
export const valueFiles = readdirSync(`${chart}ci`).map((file) => file.replace('-values.yaml', ''))

export type KubernetesObject = { readonly apiVersion: string; readonly kind: string; readonly [field: string]: unknown }
/** What the tests read of a container. */
export type Container = {
  readonly env: { name: string; value: string }[]
  readonly volumeMounts: { mountPath: string }[]
}

export const helm = (args: readonly string[], input = '') =>
  spawnSync(inject('helm'), args, { input, encoding: 'utf8' })

/** @param values of a file of chart/ci/ by its name, and changes to them */
function render(values: string, changes: object, folder = chart) {
  const file = `${chart}ci/${values}-values.yaml`
  return helm(
    ['template', 'watcher', folder, '--kube-version=1.34.0', `--values=${file}`, '--values=-'],
    stringify(changes, { version: '1.1' }),
  )
}

export function renderText(values: string, changes: object = {}, folder?: string): string {
  const { status, stdout, stderr } = render(values, changes, folder)
  if (status !== 0) throw new Error(stderr)
  return stdout
}

export const renderObjects = (values: string, changes: object = {}) =>
  parseAllDocuments(renderText(values, changes), { version: '1.1' }).map(
    (document) => document.toJS() as KubernetesObject,
  )

/** What Helm says of values that it rejects. */
export function rejectionOf(changes: object): string {
  const { status, stderr } = render('least', changes)
  if (status === 0) throw new Error('the values were accepted')
  return stderr
}

export function renderContainer(values: string, kind: 'Deployment' | 'Job', changes: object = {}): Container {
  const [object] = renderObjects(values, changes).filter((one) => one.kind === kind)
  if (!object) throw new Error(`there is no ${kind}`)
  const { template } = object.spec as { template: { spec: { containers: Container[] } } }
  const [container] = template.spec.containers
  if (!container) throw new Error(`${kind} has no container`)
  return container
}
