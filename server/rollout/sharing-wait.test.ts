import { describe, expect, test } from 'vitest'
import { sharingWaitMs } from './sharing-wait.ts'

type Application = Parameters<typeof sharingWaitMs>[0]

const nowMs = 10_000
const idle: Application = {
  tasks: new Map(),
  directRead: undefined,
  changedAtMs: undefined,
  refreshHeldSinceMs: undefined,
}
const read = (askedAtMs: number, result: 'read' | 'failed' = 'read') => ({ directRead: { askedAtMs, result } })

describe('a call waits so that it serves all tasks of its application (argocd-api.md §2.1)', () => {
  test.for<{
    name: string
    kind: 'read' | 'managed_resources' | 'tree'
    application: Partial<Application>
    ms: number
  }>([
    { name: 'the first direct read', kind: 'read', application: {}, ms: 0 },
    { name: 'a direct read 50 ms after another', kind: 'read', application: read(9_950), ms: 150 },
    { name: 'a direct read a second after another', kind: 'read', application: read(9_000), ms: 0 },
    { name: 'a direct read after one that failed', kind: 'read', application: read(9_950, 'failed'), ms: 0 },
    {
      name: 'manifests of a snapshot that has just come',
      kind: 'managed_resources',
      application: { changedAtMs: 9_900 },
      ms: 100,
    },
    {
      name: 'manifests of a snapshot that stands still',
      kind: 'managed_resources',
      application: { changedAtMs: 9_000 },
      ms: 0,
    },
    { name: 'the tree', kind: 'tree', application: { changedAtMs: 9_999, ...read(9_999) }, ms: 0 },
  ])('$name: $ms ms', ({ kind, application, ms }) => {
    expect(sharingWaitMs({ ...idle, ...application }, { kind }, nowMs)).toBe(ms)
  })
})
