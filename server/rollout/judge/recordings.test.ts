import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../../simulator/model/random.ts'
import { type Replay, replayRecording } from '../../../test/support/replay-recording.ts'
import { anEvent } from '../../../test/support/resource-events.ts'
import type { TaskResult } from '../../deployments/task.ts'

const shop = 'registry.example/shop'

type Expected = { status: string; cause?: string; culprit?: string; atMs?: number; reason?: string }
type Row = { name: string; replay: Replay; expected: readonly Expected[] }

const one = (tag: string, commit: string, pushedAtMs: number, more: Partial<Replay> = {}): Replay => ({
  tasks: [{ image: shop, tag, commit, acceptedAtMs: -1_000, pushedAtMs }],
  ...more,
})

/**
 * The same where the Deployment is pinned to its first tag, and a PreSync Job of the same image runs the new one: its Pod stays
 * listed.
 */
function pinBesideHook(answer: unknown): unknown {
  const pinned = JSON.parse(JSON.stringify(answer).replaceAll(`${shop}:1.0.1`, `${shop}:1.0.0`))
  const applied = pinned.status?.operationState?.syncResult
  if (!applied?.revision.startsWith('38d1a45')) return pinned
  const images = [`${shop}:1.0.1`]
  applied.resources.unshift({ kind: 'Job', name: 'migrate', hookType: 'PreSync', hookPhase: 'Succeeded', images })
  pinned.status.summary.images = [`${shop}:1.0.0`, ...images]
  return pinned
}

const rows: readonly Row[] = [
  { name: '01-healthy-helm', replay: one('1.0.1', '38d1a45', 30), expected: [{ status: 'deployed', atMs: 6_468 }] },
  {
    name: '01-healthy-helm',
    replay: one('1.0.1', '38d1a45', 30, { edit: pinBesideHook }),
    expected: [
      {
        status: 'failed',
        cause: 'commit_without_effect',
        culprit: 'Application shop01',
        reason: 'still declare registry.example/shop:1.0.0',
      },
    ],
  },
  { name: '02-no-refresh', replay: one('1.0.1', '1414235', 30), expected: [{ status: 'deployed', atMs: 51_370 }] },
  {
    name: '03-image-pull-backoff',
    replay: {
      tasks: [
        { image: shop, tag: '1.0.1-bad', commit: '5a76d3e', acceptedAtMs: -1_000, pushedAtMs: 70 },
        { image: shop, tag: '1.0.2', commit: 'b1b60ba', acceptedAtMs: 28_000, pushedAtMs: 28_560 },
      ],
    },
    expected: [
      {
        status: 'failed',
        cause: 'image_pull',
        culprit: 'Pod shop03-56bf565bfb-vzwjc',
        atMs: 23_490,
        reason: 'shop03-56bf565bfb-vzwjc',
      },
      { status: 'deployed', atMs: 35_190 },
    ],
  },
  {
    name: '04-crash-loop',
    replay: one('1.0.1-crash', '3058b3e', 30),
    expected: [
      {
        status: 'failed',
        cause: 'crash_loop',
        culprit: 'Pod shop04-5d9845df6c-vlmzz',
        atMs: 21_220,
        reason: 'shop04-5d9845df6c-vlmzz',
      },
    ],
  },
  {
    name: '04b-crash-after-ready',
    replay: one('1.0.1-flap', '5d4fe02', 30),
    expected: [
      {
        status: 'failed',
        cause: 'timeout',
        culprit: 'Deployment shop04b',
        reason: 'healthy: expected Healthy, found Progressing',
      },
    ],
  },
  {
    name: '05-sync-error',
    replay: {
      tasks: [
        { image: shop, tag: '1.0.1', commit: 'c8793b5', acceptedAtMs: -1_000, pushedAtMs: 250 },
        { image: shop, tag: '1.0.2', commit: 'e170cc3', acceptedAtMs: 11_900, pushedAtMs: 12_010 },
      ],
    },
    expected: [
      {
        status: 'failed',
        cause: 'sync_error',
        culprit: 'Deployment shop05',
        atMs: 6_220,
        reason: 'field is immutable',
      },
      { status: 'deployed', atMs: 16_550 },
    ],
  },
  {
    name: '05b-sync-error-default-retry',
    replay: one('1.0.1', '4c40230', 20),
    expected: [
      {
        status: 'failed',
        cause: 'sync_error',
        culprit: 'Deployment shop05b',
        atMs: 309_788,
        reason: 'retried 5 times',
      },
    ],
  },
  {
    name: '05c-sync-error-unknown-kind',
    replay: one('1.0.1', '9ce1c93', 150),
    expected: [{ status: 'failed', cause: 'sync_error', culprit: 'Foo foo', atMs: 5_570, reason: 'Foo' }],
  },
  {
    name: '06-presync-hook-fails',
    replay: one('1.0.1', '2b17312', 30),
    expected: [
      {
        status: 'failed',
        cause: 'hook_failed',
        culprit: 'Job shop06-presync',
        atMs: 12_631,
        reason: 'Job shop06-presync',
      },
    ],
  },
  {
    name: '06b-postsync-hook-fails',
    replay: one('1.0.1', '2058498', 30),
    expected: [
      {
        status: 'failed',
        cause: 'hook_failed',
        culprit: 'Job shop06b-postsync',
        atMs: 21_840,
        reason: 'PostSync hook',
      },
    ],
  },
  {
    name: '07-multi-source',
    replay: {
      tasks: [
        { image: shop, tag: '1.0.1', commit: 'f2a8fea', acceptedAtMs: -1_000, pushedAtMs: 30, repository: 'values' },
        {
          image: shop,
          tag: '1.0.2',
          commit: '033713e',
          acceptedAtMs: 12_000,
          pushedAtMs: 12_590,
          repository: 'values',
        },
        { image: shop, tag: '1.0.3', commit: '1c57957', acceptedAtMs: 16_700, pushedAtMs: 16_760 },
      ],
    },
    expected: [
      { status: 'deployed', atMs: 6_560 },
      { status: 'failed', cause: 'timeout', reason: 'images: expected registry.example/shop:1.0.2' },
      { status: 'deployed', atMs: 23_360 },
    ],
  },
  {
    name: '08-cronjob-only',
    replay: {
      tasks: [
        { image: 'registry.example/report', tag: '1.0.1', commit: 'b9043b7', acceptedAtMs: -1_000, pushedAtMs: 20 },
        { image: 'registry.example/report', tag: '1.0.2', commit: 'baf1a07', acceptedAtMs: 3_480, pushedAtMs: 3_500 },
        { image: 'registry.example/report', tag: '1.0.3', commit: '4217bb2', acceptedAtMs: 14_000, pushedAtMs: 14_090 },
      ],
    },
    expected: [{ status: 'deployed' }, { status: 'deployed' }, { status: 'deployed' }],
  },
  { name: '09-scaled-to-zero', replay: one('1.0.1', '99a905f', 80), expected: [{ status: 'deployed', atMs: 650 }] },
  {
    name: '10-deleted-while-watched',
    replay: one('1.0.1', '23aad08', 480),
    expected: [{ status: 'app not found', cause: 'app_gone', atMs: 4_700 }],
  },
  {
    name: '11-deleted-and-recreated',
    replay: one('1.0.1', '8179e91', 6_960),
    expected: [{ status: 'app not found', cause: 'app_gone' }],
  },
  {
    name: '11-deleted-and-recreated',
    replay: one('1.0.1', '8179e91', 6_960, { settings: { appGoneGraceMs: 30_000 } }),
    expected: [{ status: 'deployed', atMs: 12_210 }],
  },
  {
    name: '12-superseded',
    replay: {
      tasks: [
        { image: shop, tag: '1.0.1', commit: '2592c8c', acceptedAtMs: -1_000, pushedAtMs: 220 },
        { image: shop, tag: '1.0.2', commit: 'fe4399d', acceptedAtMs: 2_200, pushedAtMs: 2_300 },
      ],
    },
    expected: [
      { status: 'cancelled', cause: 'superseded', reason: 'fe4399d' },
      { status: 'deployed', atMs: 8_790 },
    ],
  },
  { name: '13-manual-sync', replay: one('1.0.1', 'e31b993', 20), expected: [{ status: 'deployed', atMs: 12_650 }] },
  {
    name: '13-manual-sync',
    replay: one('1.0.1', 'e31b993', 20, { untilMs: 6_200 }),
    expected: [{ status: 'failed', cause: 'manual_sync_required', reason: 'manual' }],
  },
  {
    name: '14-comparison-error',
    replay: {
      tasks: [
        { image: shop, tag: '1.0.1', commit: '46755ff', acceptedAtMs: -1_000, pushedAtMs: 40 },
        { image: shop, tag: '1.0.1', commit: 'c8b4359', acceptedAtMs: 2_200, pushedAtMs: 2_300 },
        { image: shop, tag: '1.0.1', commit: '08549a3', acceptedAtMs: 4_400, pushedAtMs: 4_450 },
        { image: shop, tag: '1.0.1', commit: '4748ec1', acceptedAtMs: 6_500, pushedAtMs: 6_570 },
      ],
    },
    expected: [1, 2, 3, 4].map(() => ({ status: 'deployed', atMs: 13_240 })),
  },
  {
    name: '14-comparison-error',
    replay: one('1.0.1', '46755ff', 40, { untilMs: 2_300 }),
    expected: [
      { status: 'failed', cause: 'comparison_error', culprit: 'Application shop14', reason: 'ComparisonError' },
    ],
  },
  {
    name: '15-refresh-dropped',
    replay: {
      tasks: [
        { image: shop, tag: '1.0.1', commit: '77d2801', acceptedAtMs: -1_000, pushedAtMs: 60 },
        { image: shop, tag: '1.0.2', commit: 'b6dee3c', acceptedAtMs: 1_300, pushedAtMs: 1_400 },
      ],
    },
    expected: [
      { status: 'deployed', atMs: 12_880 },
      { status: 'deployed', atMs: 28_300 },
    ],
  },
  {
    name: '16-manifest-generate-paths',
    replay: one('1.0.1', '030cf72', 170, { untilMs: 6_000 }),
    expected: [
      {
        status: 'failed',
        cause: 'commit_without_effect',
        culprit: 'Application shop16',
        reason: 'still declare registry.example/shop:1.0.0',
      },
    ],
  },
  {
    name: '16-manifest-generate-paths',
    replay: one('1.0.1', '030cf72', 170),
    expected: [{ status: 'deployed', atMs: 13_710 }],
  },
  {
    name: '17-rolling-update-slow-termination',
    replay: one('1.0.1', '409a42d', 560),
    expected: [{ status: 'deployed', atMs: 10_430 }],
  },
  { name: '20-sync-window', replay: one('1.0.1', '014f44d', 220), expected: [{ status: 'deployed', atMs: 24_340 }] },
  {
    name: '20-sync-window',
    replay: one('1.0.1', '014f44d', 220, { untilMs: 17_000 }),
    expected: [{ status: 'failed', cause: 'sync_window', culprit: 'Application shop20', reason: 'deny window' }],
  },
  { name: '21-no-diff-commit', replay: one('1.0.0', '8db89e0', 380), expected: [{ status: 'deployed', atMs: 1_300 }] },
  { name: '22-kustomize', replay: one('1.0.1', '27bbeb7', 60), expected: [{ status: 'deployed', atMs: 7_970 }] },
  {
    name: '23-kube-apiserver-restart',
    replay: one('1.0.1', '6089a1a', 6_080, { refusedMs: [6_000, 17_300] }),
    expected: [{ status: 'deployed', atMs: 24_370 }],
  },
  {
    name: '25-app-in-other-namespace',
    replay: {
      app: 'team-a/shopns',
      tasks: [
        { image: shop, tag: '1.0.1', commit: '525abef', acceptedAtMs: -1_000, pushedAtMs: 100 },
        { image: shop, tag: '1.0.2', commit: '6810eb0', acceptedAtMs: 3_250, pushedAtMs: 3_260 },
      ],
    },
    expected: [
      { status: 'cancelled', cause: 'superseded' },
      { status: 'deployed', atMs: 9_730 },
    ],
  },
]

/** Kind, name and container of what a failed task was stopped by; undefined where nothing broke and only time was lacking. */
const culpritOf = (end: TaskResult | undefined) => {
  const culprit = end?.diagnosis?.culprit
  return culprit && [culprit.kind, culprit.name, culprit.container].filter((part) => part !== undefined).join(' ')
}

/** A read after the event that decides takes no time here; the offsets of the index are rounded to a hundredth of a second. */
const toleranceMs = 15

describe('recordings of a real Argo CD, replayed', () => {
  test.for(rows)('$name ends as its index says ($expected.0.status)', async ({ name, replay, expected }) => {
    const ends = await replayRecording(name, replay)
    for (const [index, want] of expected.entries()) {
      const got = ends[index]
      expect(got?.end, got?.progress.join('\n')).toMatchObject({
        status: want.status,
        ...(want.cause === undefined ? {} : { cause: want.cause }),
      })
      if (want.status === 'failed') expect(culpritOf(got?.end)).toBe(want.culprit)
      if (want.reason !== undefined) expect(got?.end?.reason).toContain(want.reason)
      if (want.atMs !== undefined) expect(Math.abs((got?.atMs ?? 0) - want.atMs)).toBeLessThanOrEqual(toleranceMs)
    }
  })
})

describe('recordings of a real Argo CD, with the stream cut', () => {
  const cut = rows.filter(({ name }) => ['01-healthy-helm', '06b-postsync-hook-fails', '22-kustomize'].includes(name))
  test.for(cut)('$name ends the same wherever the stream is cut', async ({ name, replay, expected }) => {
    for (let cutAt = 1; cutAt < 26; cutAt += 1) {
      const [end] = await replayRecording(name, { ...replay, cutAt })
      expect(end?.end, `cut at event ${cutAt}`).toMatchObject({ status: expected[0]?.status })
    }
  })
})

describe('recordings of a real Argo CD, with events lost, doubled, late and out of order', () => {
  const disturbed = rows.filter(({ expected }) => expected.every(({ status }) => status !== 'app not found'))
  test.for(disturbed)('$name ends the same, at most 70 s later', async ({ name, replay, expected }) => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const ends = await replayRecording(name, { ...replay, disturbedBy: seededRandom(seed) })
      for (const [index, { status, cause, atMs }] of expected.entries()) {
        const seen = ends[index]
        expect({ seed, status: seen?.end?.status }).toEqual({ seed, status })
        // A recorded tree can be read once only: read too early, it does not tell what the application is degraded by.
        if (cause !== undefined) expect([cause, 'degraded']).toContain(seen?.end?.cause)
        if (atMs !== undefined) expect(seen?.atMs).toBeLessThanOrEqual(atMs + 70_000)
      }
    }
  })
})

test('a rollout that goes well costs at most four calls', async () => {
  const [end] = await replayRecording('01-healthy-helm', one('1.0.1', '38d1a45', 30))
  expect((end?.reads ?? 9) + (end?.refreshes ?? 9)).toBeLessThanOrEqual(4)
})

/** The same with a second Deployment of the image that stays at the first tag. */
function besideForgotten(answer: unknown): unknown {
  const { status, ...application } = answer as {
    status?: { operationState?: { syncResult?: { resources: object[] } } }
  }
  const worker = { kind: 'Deployment', name: 'shop-worker', status: 'Synced', images: [`${shop}:1.0.0`] }
  status?.operationState?.syncResult?.resources.push(worker)
  return { ...application, status }
}

test('a rollout beside a Deployment that was left at another tag is deployed, with a note and no further call', async () => {
  const [end] = await replayRecording('01-healthy-helm', one('1.0.1', '38d1a45', 30, { edit: besideForgotten }))
  expect(end?.end).toMatchObject({ status: 'deployed', reason: `${shop}:1.0.0 also runs, in Deployment shop-worker` })
  expect(end?.atMs).toBeLessThan(6_500)
  expect((end?.reads ?? 9) + (end?.refreshes ?? 9)).toBeLessThanOrEqual(4)
})

test('the reason of a failure names the Pod, its message and its events, and what to do', async () => {
  const tasks = [{ image: shop, tag: '1.0.1-bad', commit: '5a76d3e', acceptedAtMs: -1_000, pushedAtMs: 70 }]
  const [end] = await replayRecording('03-image-pull-backoff', {
    tasks,
    untilMs: 28_000,
    podEvents: [anEvent('Failed: Error: ImagePullBackOff')],
  })
  const lines = end?.end?.reason?.split('\n') ?? []
  expect(lines[0]).toContain('[image_pull]')
  expect(lines).toContainEqual(
    expect.stringMatching(/^Pod shop03-56bf565bfb-vzwjc \(registry.example\/shop:1.0.1-bad\)/),
  )
  expect(lines).toContainEqual('Event of shop03-56bf565bfb-vzwjc: Failed: Error: ImagePullBackOff')
  expect(lines).toContainEqual('Images requested: registry.example/shop:1.0.1-bad')
  expect(lines[1]).toMatch(/^Culprit: Pod shop03-56bf565bfb-vzwjc: ImagePullBackOff: /)
  expect(lines[2]).toBe('Impact: the old version still serves: 2 of 2 Pods ready')
  expect(lines[3]).toMatch(/^Next step 1 \(developer\): /)
})

test('the timeline tells a rollout step by step', async () => {
  const [end] = await replayRecording('01-healthy-helm', one('1.0.1', '38d1a45', 30))
  const kinds = end?.events.map(({ kind }) => kind)
  expect(kinds?.[0]).toBe('application_confirmed')
  expect(kinds).toEqual(expect.arrayContaining(['refresh_requested', 'sync_changed', 'operation_changed']))
  expect(end?.events).toContainEqual(
    expect.objectContaining({
      kind: 'sync_changed',
      data: expect.objectContaining({ sync: 'Synced', health: 'Progressing' }),
    }),
  )
})

/** Beside what the judge tells: accepted, commit queued and pushed, and the verdict. */
const otherEvents = 4
const goodRecordings = ['01-healthy-helm', '07-multi-source', '17-rolling-update-slow-termination', '22-kustomize']

test.for(rows.filter(({ name, replay }) => goodRecordings.includes(name) && replay.edit === undefined))(
  'the timeline of the good deployment of $name has at most 12 events',
  async ({ name, replay }) => {
    const [end] = await replayRecording(name, replay)
    expect(end?.events.length).toBeGreaterThan(3)
    expect((end?.events.length ?? 0) + otherEvents).toBeLessThanOrEqual(12)
  },
)
