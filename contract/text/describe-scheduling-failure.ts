import { plainWords } from './plain-words.ts'

/** The scheduler counts nodes by what is wrong with them: `1 Insufficient cpu, 2 node(s) had untolerated taint {a: b}`. */
const obstacles: readonly (readonly [RegExp, string])[] = [
  [/^Insufficient cpu$/, 'insufficient CPU'],
  [/^Insufficient (.+)$/, 'insufficient $1'],
  [/^Too many pods$/, 'too many Pods on the node'],
  [/^node\(s\) had untolerated taint(?:\(s\))? \{(.+?)(?:: )?\}$/, 'taint $1'],
  [/^node\(s\) had taint \{(.+?)(?:: )?\}, that the pod didn't tolerate$/, 'taint $1'],
  [/^node\(s\) didn't match Pod's node affinity(?:\/selector)?$/, 'node affinity or selector does not match'],
  [/^node\(s\) didn't match pod affinity.*$/, 'Pod affinity does not match'],
  [/^node\(s\) (?:didn't match pod anti-affinity|didn't satisfy existing pods anti-affinity).*$/, 'Pod anti-affinity'],
  [/^node\(s\) didn't match pod topology spread constraints.*$/, 'topology spread constraints'],
  [/^node\(s\) had (?:volume node affinity conflict|no available volume zone)$/, 'volume is in another zone'],
  [/^node\(s\) exceed max volume count$/, 'too many volumes on the node'],
  [/^node\(s\) didn't have free ports.*$/, 'host port is in use'],
  [/^node\(s\) were unschedulable$/, 'node is cordoned'],
  [/^node\(s\) didn't find available persistent volumes to bind$/, 'no PersistentVolume to bind'],
  [/^pod has unbound immediate PersistentVolumeClaims$/, 'unbound PersistentVolumeClaim'],
]

/** `0/3 nodes available, insufficient CPU, taint dedicated: gpu`. Taints come last: they mostly keep Pods away on purpose. */
export function describeSchedulingFailure(message: string): string {
  const [, nodes, rest] = /^(\d+\/\d+) nodes are available: (.*)$/.exec(plainWords(message)) ?? []
  if (nodes === undefined || rest === undefined) return plainWords(message)
  const [listed = ''] = rest.split(/\. |\.$/)
  const found = listed.split(/, (?=\d+ )/).map(describeObstacle)
  const isTaint = (text: string) => text.startsWith('taint ')
  const sorted = found.toSorted((a, b) => Number(isTaint(a)) - Number(isTaint(b)))
  return [`${nodes} nodes available`, ...new Set(sorted)].join(', ')
}

function describeObstacle(counted: string): string {
  const text = counted.replace(/^\d+ /, '')
  for (const [pattern, words] of obstacles) if (pattern.test(text)) return text.replace(pattern, words)
  return text.replace(/^node\(s\) /, '')
}
