import { readdirSync, readFileSync } from 'node:fs'
import { parseLivePod } from '../../server/argo-cd/parse/parse-live-pod.ts'
import { parseResourceEvents } from '../../server/argo-cd/parse/parse-resource-events.ts'
import { parseResourceTree } from '../../server/argo-cd/parse/parse-resource-tree.ts'
import type { RolloutObservation } from '../../server/rollout/judge/input/rollout-observation.ts'
import type { Judgement } from '../../server/rollout/judge/input/verdict.ts'
import type { WriteBackState } from '../../server/rollout/judge/input/watched-task.ts'
import { aSha } from './application-builder.ts'
import { judge, type Look } from './judge-looks.ts'

const folder = new URL('../fixtures/argocd/failures/', import.meta.url)
const read = (name: string, file: string) => JSON.parse(readFileSync(new URL(`${name}/${file}`, folder), 'utf8'))

/** What Argo CD answered about a failure, by the uid of each resource. */
function observed(name: string, askedAtMs: number): Partial<RolloutObservation> {
  const { nodes } = read(name, 'resource-tree.json')
  const uids = new Map<string, string>(
    nodes.map((node: { kind: string; name: string; uid: string }) => [`${node.kind}-${node.name}`, node.uid]),
  )
  const answers = <Value>(prefix: string, parse: (body: unknown) => Value | undefined) =>
    new Map(
      readdirSync(new URL(`${name}/`, folder))
        .filter((file) => file.startsWith(prefix))
        .flatMap((file) => {
          const uid = uids.get(file.slice(prefix.length, -'.json'.length))
          return uid === undefined ? [] : [[uid, { askedAtMs, version: 0, value: parse(read(name, file)) }] as const]
        }),
    )
  return {
    tree: { askedAtMs, version: 0, value: parseResourceTree({ nodes }) },
    events: answers('events-', parseResourceEvents),
    livePods: answers('resource-', parseLivePod),
  }
}

/** The application as it was before the commit: another revision, and nothing Degraded. */
function before(raw: Raw): Raw {
  const resources = raw.status.resources.map((one) => ({ ...one, health: { status: 'Healthy' } }))
  const status = {
    ...raw.status,
    resources,
    health: { status: 'Healthy' },
    sync: { ...raw.status.sync, revision: aSha('a') },
  }
  return { ...raw, metadata: { ...raw.metadata, resourceVersion: '1' }, status }
}

type Raw = {
  readonly metadata: object
  readonly spec: { readonly source: { readonly repoURL: string } }
  readonly status: { readonly sync: { readonly revision: string }; readonly resources: readonly object[] }
}

/** Judges the state before, then the failure as it stood at the end, looked at again and again. */
export function judgeFailure(name: string, tag: string, times: readonly number[]): Judgement {
  const raw: Raw = read(name, 'get.json')
  const writeBack: WriteBackState = {
    kind: 'ended',
    outcome: { kind: 'landed', commit: raw.status.sync.revision, repository: raw.spec.source.repoURL, branch: 'main' },
    atMs: 0,
  }
  const looks = times.map((atMs): Look => ({ atMs, raw, seen: observed(name, atMs) }))
  return judge([{ atMs: 0, raw: before(raw) }, ...looks], { task: { tag }, writeBack })
}

/** When the looks come: past the deadline, and past the grace of Degraded. */
export const atDeadline = [20_000, 400_000, 900_000, 906_000]
export const afterGrace = [20_000, 30_000, 95_000]
