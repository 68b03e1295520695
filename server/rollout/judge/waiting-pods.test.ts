import { describe, expect, test } from 'vitest'
import { beforeCommit, judge, type Look, pod, succeeded, tree } from '../../../test/support/judge-looks.ts'
import { anEvent, eventsOf } from '../../../test/support/resource-events.ts'
import type { ResourceEvent } from '../observed/observed-resources.ts'

const waiting = (state: string) =>
  pod(state, { health: { status: 'Progressing' }, createdAt: new Date(1_700_000_010_000).toISOString() })

const look = (
  atMs: number,
  state: string,
  events: readonly (string | ResourceEvent)[] = [],
  health = 'Progressing',
): Look => ({
  atMs,
  health,
  images: ['registry.example/shop:v2'],
  operationState: succeeded,
  status: {
    resources: [
      {
        group: 'apps',
        kind: 'Deployment',
        namespace: 'shop',
        name: 'shop',
        status: 'Synced',
        health: { status: health, message: 'Deployment "shop" exceeded its progress deadline' },
      },
    ],
  },
  seen: {
    tree: tree([waiting(state)], atMs),
    ...(events.length === 0 ? {} : { events: eventsOf('p1', events, atMs) }),
  },
})

const noCpu =
  'FailedScheduling: 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: gpu}.'

const rows = [
  { state: 'Pending', event: noCpu, cause: 'unschedulable' },
  {
    state: 'Pending',
    event: 'FailedScheduling: 0/3 nodes are available: 3 node(s) had volume node affinity conflict.',
    cause: 'unschedulable',
  },
  {
    state: 'Pending',
    event: 'FailedScheduling: 0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
    cause: 'volume_unavailable',
  },
  {
    state: 'ContainerCreating',
    event: 'FailedMount: MountVolume.SetUp failed for volume "files" : configmap "shop-files" not found',
    cause: 'container_config',
  },
  {
    state: 'ContainerCreating',
    event: 'FailedMount: MountVolume.SetUp failed for volume "tls" : secret "shop-tls" not found',
    cause: 'container_config',
  },
  {
    state: 'ContainerCreating',
    event:
      'FailedAttachVolume: AttachVolume.Attach failed for volume "pvc-1" : timed out waiting for external-attacher of ebs.csi.aws.com',
    cause: 'volume_unavailable',
  },
  {
    state: 'ContainerCreating',
    event: 'FailedCreatePodSandBox: Failed to create pod sandbox: plugin type="calico" failed',
    cause: 'container_config',
  },
  {
    state: 'Init:0/1',
    event: 'FailedMount: Unable to attach or mount volumes: timed out waiting for the condition',
    cause: 'volume_unavailable',
  },
  { state: 'PodInitializing', event: noCpu, cause: 'unschedulable' },
] as const

describe('a Pod that waits to start', () => {
  test.for(rows)('$state, $event: $cause', ({ state, event, cause }) => {
    const message = event.slice(event.indexOf(': ') + 2)
    expect(judge([beforeCommit, look(20_000, state), look(45_000, state, [event])]).diagnosis).toMatchObject({
      cause,
      culprit: { kind: 'Pod', name: 'shop-1', message },
    })
  })

  test.for(rows)('$state ends no task early: $cause', ({ state, event }) => {
    const looks = [20_000, 45_000, 400_000, 800_000].map((atMs) => look(atMs, state, [event]))
    expect(judge([beforeCommit, ...looks]).end).toBeUndefined()
  })

  test('is the cause at the deadline', () => {
    const looks = [20_000, 45_000, 900_000, 900_500].map((atMs) => look(atMs, 'Pending', [noCpu]))
    expect(judge([beforeCommit, ...looks]).end).toMatchObject({ status: 'failed', cause: 'unschedulable' })
  })

  test('is the cause once the application has been Degraded for its grace', () => {
    const looks = [20_000, 81_000].map((atMs) => look(atMs, 'Pending', [noCpu], 'Degraded'))
    expect(judge([beforeCommit, ...looks]).end).toMatchObject({ status: 'failed', cause: 'unschedulable' })
  })

  test('that starts in the end may be deployed', () => {
    const started: Look = { ...look(100_000, 'Running'), health: 'Healthy' }
    expect(
      judge([beforeCommit, look(20_000, 'Pending', [noCpu]), started, { ...started, atMs: 103_000 }]).end?.status,
    ).toBe('deployed')
  })

  const events = { kind: 'events', namespace: '', name: 'shop-1', uid: 'p1' }

  test('has its events read when it is 30 s old, and once more before the deadline', () => {
    const first = judge([beforeCommit, look(20_000, 'Pending')])
    expect(first.actions).not.toContainEqual(events)
    expect(
      judge([beforeCommit, look(20_000, 'Pending'), { ...look(20_000, 'Pending'), atMs: 40_000 }]).actions,
    ).toContainEqual(events)
    const read = [beforeCommit, look(20_000, 'Pending'), look(41_000, 'Pending', [noCpu])]
    const again = { ...look(41_000, 'Pending', [noCpu]), atMs: 880_000 }
    expect(judge([...read, again]).actions).not.toContainEqual(events)
    expect(judge([...read, { ...again, atMs: 890_000 }]).actions).toContainEqual(events)
  })
})

test('an init container is named by an event, as Argo CD has no message of it', () => {
  const crash = pod('Init:CrashLoopBackOff', { health: { status: 'Progressing', message: undefined } })
  const backOff = anEvent('BackOff: Back-off restarting failed container migrate in pod shop-1_shop(1)', {
    container: 'migrate',
    count: 4,
    lastMs: 144_500,
  })
  const at = (atMs: number): Look => ({
    ...look(atMs, ''),
    seen: { tree: tree([crash], atMs), events: eventsOf('p1', [backOff], atMs) },
  })
  expect(judge([beforeCommit, at(20_000), at(80_000), at(145_000)]).end?.diagnosis).toMatchObject({
    culprit: {
      container: 'migrate',
      is_init: true,
      message: 'Init:CrashLoopBackOff: Back-off restarting failed container migrate in pod shop-1_shop(1)',
    },
    evidence: expect.arrayContaining([
      expect.objectContaining({ kind: 'pod', occurrences: [{ count: 4, last: 144.5 }] }),
    ]),
  })
})
