import { readdirSync, readFileSync } from 'node:fs'
import { parseApplication } from '../../server/argo-cd/parse/parse-application.ts'
import { parseManagedResources } from '../../server/argo-cd/parse/parse-managed-resources.ts'
import { parseResourceTree } from '../../server/argo-cd/parse/parse-resource-tree.ts'
import { parseSyncWindows } from '../../server/argo-cd/parse/parse-sync-windows.ts'
import type { TaskResult } from '../../server/deployments/task.ts'
import type { RolloutSettings } from '../../server/rollout/judge/input/rollout-settings.ts'
import type { DeliveryController, ReadOutcome } from '../../server/rollout/observed/delivery-controller.ts'
import type { ObservedApplication } from '../../server/rollout/observed/observed-application.ts'
import type { ResourceEvent } from '../../server/rollout/observed/observed-resources.ts'
import { createRolloutWatcher } from '../../server/rollout/watch/rollout-watcher.ts'
import type { NewTaskEvent } from '../../server/timeline/task-event.ts'
import { parseAnnotations } from '../../server/write-back/plan/parse-annotations.ts'
import type { WriteBackOutcome } from '../../server/write-back/plan/write-back-outcome.ts'
import { aWriteDecision, rolloutDeps } from './rollout-builder.ts'
import { createVirtualClock } from './virtual-clock.ts'

const folder = new URL('../fixtures/argocd/', import.meta.url)

/** One deployment of a recording. Times are those of the recording. */
type ReplayedTask = {
  /** First characters of the commit that its push made; none: nothing was committed for it. */
  readonly commit?: string
  readonly image: string
  readonly tag: string
  readonly acceptedAtMs: number
  readonly pushedAtMs?: number
  readonly repository?: string
}

export type Replay = {
  readonly tasks: readonly ReplayedTask[]
  readonly settings?: Partial<RolloutSettings>
  readonly timeoutMs?: number
  /** Events from this time on never happened. */
  readonly untilMs?: number
  /** The stream is cut before the event of this index and comes back, with a List, after three more. */
  readonly cutAt?: number
  /** Of the stream's events some 30 % are lost, 20 % come twice and 20 % late, as this says; Lists come every minute. */
  readonly disturbedBy?: () => number
  /** Between these times a direct read is refused. */
  readonly refusedMs?: readonly [number, number]
  readonly app?: string
  /** Of any Pod: the recordings have those of the application only. */
  readonly podEvents?: readonly ResourceEvent[]
  /** Changes what was recorded of the application and of its manifests, before it is parsed. */
  readonly edit?: (answer: unknown) => unknown
}

export type ReplayedEnd = {
  readonly end: TaskResult | undefined
  readonly atMs: number | undefined
  readonly progress: readonly string[]
  readonly events: readonly NewTaskEvent[]
  readonly reads: number
  readonly refreshes: number
}

const settings: RolloutSettings = {
  badPodGraceMs: 120_000,
  degradedGraceMs: 0,
  comparisonErrorGraceMs: 120_000,
  syncFailedGraceMs: 0,
  appGoneGraceMs: 0,
  settleMs: undefined,
  acceptSuspended: false,
  registryProxy: undefined,
  annotationPrefixes: ['watcher/', 'argo-watcher/'],
  isStrict: false,
  controlPlaneNamespace: 'argocd',
  overrideFilePrefix: 'argocd',
  linkBase: 'https://argocd.example/',
}

type Recorded = { readonly offset_ms: number; readonly body: unknown }
type StreamEvent = { readonly atMs: number; readonly type: string; readonly application: ObservedApplication }

const asRecorded = (answer: unknown) => answer

function recordedEvents(name: string, edit: (answer: unknown) => unknown): readonly StreamEvent[] {
  const lines = readFileSync(new URL(`${name}/stream.jsonl`, folder), 'utf8')
    .trim()
    .split('\n')
  return lines.flatMap((line) => {
    const { offset_ms: atMs, result } = JSON.parse(line)
    const application = parseApplication(edit(result.application))
    return application === undefined ? [] : [{ atMs, type: result.type, application }]
  })
}

/** Answers of a kind, oldest first. */
function recordedAnswers(name: string, prefix: string): readonly Recorded[] {
  const files = readdirSync(new URL(name, folder)).filter((file) => file.startsWith(prefix) && file.endsWith('.json'))
  const answers = files.flatMap((file) => JSON.parse(readFileSync(new URL(`${name}/${file}`, folder), 'utf8')))
  return answers.toSorted((a: Recorded, b: Recorded) => a.offset_ms - b.offset_ms)
}

/** Plays a recording of a real Argo CD to the watcher, on a clock of its own, and goes on to the deadline of every task. */
export async function replayRecording(name: string, replay: Replay): Promise<readonly ReplayedEnd[]> {
  const events = recordedEvents(name, replay.edit ?? asRecorded).filter(
    ({ atMs }) => atMs < (replay.untilMs ?? Number.POSITIVE_INFINITY),
  )
  const clock = createVirtualClock(Math.min(-2_000, events[0]?.atMs ?? 0))
  const commits = replay.tasks.map(({ commit }) => commit ?? '')
  const fullCommits = commits.map((short) => completeCommit(events, short))
  const results = replay.tasks.map(() => ({
    end: undefined as TaskResult | undefined,
    atMs: undefined as number | undefined,
    progress: [] as string[],
    events: [] as NewTaskEvent[],
  }))
  const calls = { reads: 0, refreshes: 0 }
  const position = (revision: string) => fullCommits.indexOf(revision)
  let current: StreamEvent | undefined

  const controller = recordedController(name, replay, clock.nowMs, () => current, calls)
  await using watcher = createRolloutWatcher({
    controller,
    limiter: rolloutDeps.limiter,
    clock,
    settings: { ...settings, ...replay.settings },
    annotations: ({ annotations }) => parseAnnotations(annotations, settings.annotationPrefixes),
    factsAtFirstSight: () => ({}),
    decideWriteBack: ({ id }) =>
      commits[Number(id)] === '' ? { kind: 'monitor', why: 'not_managed', note: '' } : aWriteDecision(),
    queueWriteBack: async () => true,
    ancestry: async (_, commit, revision) =>
      position(revision) > position(commit)
        ? 'descendant'
        : position(revision) === position(commit)
          ? 'same'
          : 'unrelated',
    overrideAt: async (_, revision) => {
      const task = replay.tasks[position(revision)]
      return task === undefined ? undefined : new Map([[task.image, task.tag]])
    },
    records: {
      saveProgress: async ({ taskId }, change, told) => {
        if (change.progress !== undefined) results[Number(taskId)]?.progress.push(change.progress)
        results[Number(taskId)]?.events.push(...told)
        return true
      },
      finish: async ({ taskId }, end) => {
        Object.assign(results[Number(taskId)] ?? {}, { end, atMs: clock.nowMs() })
        return true
      },
    },
    onError: (_message, error) => {
      throw error
    },
  })

  const happenings = [
    ...events.map((event, index) => ({ atMs: event.atMs, run: () => deliver(event, index) })),
    ...replay.tasks.map((task, index) => ({ atMs: task.acceptedAtMs, run: () => accept(task, index) })),
    ...replay.tasks.map((task, index) => ({
      atMs: task.pushedAtMs ?? task.acceptedAtMs,
      run: () => push(task, index),
    })),
  ].toSorted((a, b) => a.atMs - b.atMs)

  const isCut = (index: number) => replay.cutAt !== undefined && index >= replay.cutAt && index < replay.cutAt + 3
  const deliver = (event: StreamEvent, index: number) => {
    current = event
    if (replay.disturbedBy !== undefined) return disturb(event, replay.disturbedBy)
    if (!isCut(index)) tell(event)
    const isLastOfCut = isCut(index) && (!isCut(index + 1) || index === events.length - 1)
    if (isLastOfCut) clock.setTimer(1_000, listAll)
  }
  const tell = ({ type, application }: StreamEvent) =>
    watcher.updated(type === 'DELETED' ? 'deleted' : 'seen', application)
  const disturb = (event: StreamEvent, random: () => number) => {
    const fate = random()
    if (fate < 0.3) return
    if (fate < 0.5) tell(event)
    if (fate < 0.8) tell(event)
    else clock.setTimer(random() * 3_000, () => tell(event))
  }
  const listEveryMinute = () => {
    listAll()
    clock.setTimer(60_000, listEveryMinute)
  }
  if (replay.disturbedBy !== undefined) clock.setTimer(60_000, listEveryMinute)
  const listAll = () => {
    const applications = current === undefined || current.type === 'DELETED' ? [] : [current.application]
    watcher.listed({ version: current?.application.version ?? 0, applications }, clock.nowMs())
  }
  const accept = (task: ReplayedTask, index: number) => {
    const application = events[0]?.application
    watcher.watch([
      {
        id: String(index),
        app: replay.app ?? application?.name ?? '',
        author: 'ada',
        project: 'shop',
        images: [{ image: task.image, tag: task.tag }],
        mayWrite: true,
        refresh: true,
        claim: { taskId: String(index), owner: 'replica', fence: '1' },
        deadlineMs: clock.nowMs() + (replay.timeoutMs ?? 900_000),
        appearByMs: clock.nowMs(),
        isOverdue: false,
        baseline: undefined,
        writeBackOutcome: undefined,
        acceptedAtMs: 0,
        createdSeconds: 0,
      },
    ])
  }
  const push = (task: ReplayedTask, index: number) => {
    const commit = fullCommits[index]
    if (commit === undefined || task.commit === undefined) return
    const source = events[0]?.application.sources.find(({ repository }) => repository.includes(task.repository ?? ''))
    const landed: WriteBackOutcome = { kind: 'landed', commit, repository: source?.repository ?? '', branch: 'main' }
    watcher.outcome(String(index), landed)
  }

  for (const { atMs, run } of happenings) {
    await clock.advanceTo(atMs)
    run()
  }
  await clock.advanceTo(clock.nowMs() + (replay.timeoutMs ?? 900_000) + 20_000)
  return results.map((result) => ({ ...result, ...calls }))
}

/** The whole SHA, where the recording shows it anywhere. */
function completeCommit(events: readonly StreamEvent[], short: string): string {
  const seen = events.flatMap(({ application }) => [
    ...application.revisions,
    ...(application.operation?.revisions ?? []),
  ])
  return seen.find((revision) => short !== '' && revision.startsWith(short)) ?? short.padEnd(40, '0')
}

function recordedController(
  name: string,
  { refusedMs, podEvents = [], edit = asRecorded }: Replay,
  nowMs: () => number,
  current: () => StreamEvent | undefined,
  calls: { reads: number; refreshes: number },
): DeliveryController {
  const trees = [...recordedAnswers(name, 'resource-tree')]
  const managed = recordedAnswers(name, 'managed-resources')
  const windows = recordedAnswers(name, 'syncwindows')
  const now = (): ReadOutcome<ObservedApplication> => {
    const event = current()
    const isRefused = refusedMs !== undefined && nowMs() >= refusedMs[0] && nowMs() < refusedMs[1]
    if (isRefused || event === undefined || event.type === 'DELETED') return { kind: 'forbidden' }
    return { kind: 'read', value: event.application }
  }
  const newest = (answers: readonly Recorded[]) => answers.filter(({ offset_ms }) => offset_ms <= nowMs()).at(-1)
  return {
    readApplication: async () => {
      calls.reads += 1
      return now()
    },
    // The refreshes of the recording are in its events; ours is answered there or not at all.
    refreshApplication: async () => {
      calls.refreshes += 1
      return { kind: 'asked' }
    },
    listApplications: async () => {
      const event = current()
      const isThere = event !== undefined && event.type !== 'DELETED'
      return {
        kind: 'read',
        value: { version: event?.application.version ?? 0, applications: isThere ? [event.application] : [] },
      }
    },
    // A recorded tree with a Pod that fails is one moment, so it answers one read.
    readResourceTree: async () => {
      const tree = newest(trees)
      if (tree === undefined) return { kind: 'forbidden' }
      const value = parseResourceTree(tree.body)
      if (value.pods.some(({ health }) => health === 'Degraded')) trees.splice(0, trees.indexOf(tree) + 1)
      return { kind: 'read', value }
    },
    readManagedResources: async () => {
      const answer = newest(managed) ?? managed[0]
      return answer === undefined
        ? { kind: 'forbidden' }
        : { kind: 'read', value: parseManagedResources(edit(answer.body)) }
    },
    readSyncWindows: async () => {
      const answer = windows[0]
      return answer === undefined ? { kind: 'forbidden' } : { kind: 'read', value: parseSyncWindows(answer.body) }
    },
    readEvents: async () => ({ kind: 'read', value: podEvents }),
    readLivePod: async () => ({ kind: 'forbidden' }),
    probe: async () => ({ kind: 'read', value: {} }),
  }
}
