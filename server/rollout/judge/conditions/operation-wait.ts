import { isOperationActive, type ObservedApplication } from '../../observed/observed-application.ts'

export type AwaitedResource = { readonly group: string; readonly kind: string; readonly name: string }

/** Argo CD's words, such as "waiting for healthy state of apps/Deployment/db and 1 more resources". */
const awaited =
  /^waiting for (?:healthy state|completion|deletion|pruning confirmation)?[^/]*?of (?:hook )?([^/\s]*)\/([^/\s]+)\/([^\s,]+)/

/** What a running operation waits for, as its message names it. */
export function awaitedByOperation(application: ObservedApplication): AwaitedResource | undefined {
  const found = isOperationActive(application) ? awaited.exec(application.operation?.message ?? '') : null
  if (found === null) return undefined
  const [, group = '', kind = '', name = ''] = found
  return { group, kind, name }
}

/** The message names no namespace. */
export const isAwaited =
  ({ group, kind, name }: AwaitedResource) =>
  (one: { readonly group?: string; readonly kind: string; readonly name: string }): boolean =>
    one.kind === kind && one.name === name && (one.group ?? group) === group

export const isOperationWaiting = (application: ObservedApplication): boolean =>
  isOperationActive(application) && /^waiting for /i.test(application.operation?.message ?? '')
