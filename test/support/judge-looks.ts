import type { Image } from '../../contract/task.ts'
import { parseApplication } from '../../server/argo-cd/parse/parse-application.ts'
import { parseResourceTree } from '../../server/argo-cd/parse/parse-resource-tree.ts'
import { startMemory } from '../../server/rollout/judge/input/rollout-memory.ts'
import type { Reading, RolloutObservation } from '../../server/rollout/judge/input/rollout-observation.ts'
import type { RolloutSettings } from '../../server/rollout/judge/input/rollout-settings.ts'
import type { Judgement } from '../../server/rollout/judge/input/verdict.ts'
import type { WriteBackState } from '../../server/rollout/judge/input/watched-task.ts'
import { judgeRollout } from '../../server/rollout/judge/judge-rollout.ts'
import { nothingKnown } from '../../server/rollout/observed/newest-snapshots.ts'
import type { ResourceTree } from '../../server/rollout/observed/observed-resources.ts'
import { type ApplicationFields, anApplication, aSha, repository } from './application-builder.ts'
import { anObservation } from './rollout-builder.ts'
import { defaultRolloutSettings } from './rollout-settings.ts'

const settings = defaultRolloutSettings

export const commit = aSha('c')
export const landed: WriteBackState = {
  kind: 'ended',
  outcome: { kind: 'landed', commit, repository, branch: 'main' },
  atMs: 0,
}
export const monitored: WriteBackState = { kind: 'monitor', why: 'not_managed', note: '' }

export type Look = ApplicationFields & {
  readonly atMs: number
  readonly seen?: Partial<RolloutObservation>
  readonly raw?: unknown
}
type Setting = {
  readonly task?: {
    refresh?: boolean
    deadlineMs?: number
    appearByMs?: number
    isOverdue?: boolean
    tag?: string
    image?: string
    images?: readonly Image[]
  }
  readonly settings?: Partial<RolloutSettings>
  readonly writeBack?: WriteBackState
}

export const beforeCommit: Look = {
  atMs: 0,
  version: 1,
  revision: aSha('a'),
  images: ['registry.example/shop:v1'],
  reconciledAt: '2026-11-21T15:00:00Z',
}

/** Judges one look after the other; each has a direct read that was just answered. */
export function judge(
  looks: readonly Look[],
  { task = {}, settings: changed = {}, writeBack = landed }: Setting = {},
): Judgement {
  const judged = {
    app: 'shop',
    createdSeconds: 1_700_000_000,
    images: task.images ?? [{ image: task.image ?? 'registry.example/shop', tag: task.tag ?? 'v2' }],
    refresh: task.refresh ?? true,
    acceptedAtMs: 0,
    deadlineMs: task.deadlineMs ?? 900_000,
    appearByMs: task.appearByMs ?? 0,
    isOverdue: task.isOverdue ?? false,
  }
  let memory = startMemory(undefined, 0)
  let last: Judgement | undefined
  for (const [index, look] of looks.entries()) {
    const isFirst = index === 0 && looks.length > 1
    const application = look.raw === undefined ? anApplication(look) : parseApplication(look.raw)
    const observation = anObservation(application, {
      known: { ...nothingKnown, newest: application, seenAtMs: look.atMs },
      writeBack: isFirst && writeBack === landed ? { kind: 'pending' } : writeBack,
      directRead: { askedAtMs: look.atMs, result: 'read' },
      ...look.seen,
    })
    last = judgeRollout(judged, memory, observation, look.atMs, { ...settings, ...changed })
    memory = last.memory
  }
  if (last === undefined) throw new Error('nothing to judge')
  return last
}

export const succeeded = {
  phase: 'Succeeded',
  startedAt: '2026-11-21T15:00:05Z',
  finishedAt: '2026-11-21T15:00:08Z',
  syncResult: { revision: commit },
}
export const failedOperation = {
  phase: 'Failed',
  message: 'it broke',
  startedAt: '2026-11-21T15:00:05Z',
  finishedAt: '2026-11-21T15:00:08Z',
  operation: { sync: { revision: commit } },
}
export const read = (askedAtMs: number) => ({ askedAtMs, result: 'read' as const })
export const tree = (pods: readonly object[], askedAtMs: number): Reading<ResourceTree> => ({
  askedAtMs,
  version: 10,
  value: parseResourceTree({ nodes: pods }),
})
export const pod = (reason: string, more: object = {}) => ({
  kind: 'Pod',
  name: 'shop-1',
  uid: 'p1',
  images: ['registry.example/shop:v2'],
  info: [{ name: 'Status Reason', value: reason }],
  health: { status: reason === 'Running' ? 'Healthy' : 'Degraded', message: 'why' },
  createdAt: '2026-11-21T15:00:06Z',
  ...more,
})
export const custom = {
  status: { resources: [{ group: 'db.example', kind: 'Database', name: 'db', health: { status: 'Healthy' } }] },
}
