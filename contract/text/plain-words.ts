import { oneLine, shorten } from '../fields.ts'

/** `CrashLoopBackOff: `, `Init:Error: `, `Unhealthy: `: the reason in front of a message. */
const reasonInFront = /^(?:Init:)?[A-Z][A-Za-z]*: (?=\S)/

/** Argo CD's messages may have megabytes; what decides is in front. */
export const withBoundedMessage = <Blamed extends { readonly message: string }>(culprit: Blamed): Blamed => ({
  ...culprit,
  message: shorten(culprit.message, 2_000),
})

/** An address may hold any of the words that tell failures apart, such as `?timeout=3s`. */
export const withoutUrls = (text: string): string => text.replace(/"https?:[^"]*"/g, '')

/** A message on one line, without the reasons in front of it and the labels of gRPC. */
export function plainWords(message: string): string {
  const text = oneLine(message).replace(/ {2,}/g, ' ')
  const rest = text.replace(reasonInFront, '')
  return rest === text ? text.replace(/rpc error: code = \w+ desc = /g, '') : plainWords(rest)
}

/** Without the name of its resource in front: `Deployment "worker" exceeded its progress deadline`, `Job has reached …`. */
export const wordsOfResource = (message: string): string =>
  plainWords(message).replace(/^[A-Z]\w+ (?:"[^"]*" |has (?=reached))/, '')

/** Why nothing was committed, behind a headline that says that nothing was. */
export const wordsOfCommit = (text: string): string =>
  text.replace(/^nothing was committed(?: before the timeout)?: /, '')

/**
 * Go programs put the error of each caller in front: `failed to start: failed to mount: no such file`. Drops the outer ones
 * until the rest has at most `room` characters; the innermost stays.
 */
export function innermostErrors(text: string, room: number): string {
  const inner = text.indexOf(': ')
  return text.length <= room || inner < 0 ? text : innermostErrors(text.slice(inner + 2), room)
}

/** `secret "shop-database" not found`, as people write it. */
export const nameKinds = (text: string): string =>
  text
    .replace(/\bconfigmaps? "([^"]+)"/gi, 'ConfigMap $1')
    .replace(/\bsecrets? "([^"]+)"/gi, 'Secret $1')
    .replace(/\bpersistentvolumeclaims? "([^"]+)"/gi, 'PersistentVolumeClaim $1')
    .replace(/\bserviceaccounts? "([^"]+)"/gi, 'ServiceAccount $1')
    .replace(/\bstorageclass(?:\.storage\.k8s\.io)? "([^"]+)"/gi, 'storage class $1')
