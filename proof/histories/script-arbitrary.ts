import fc from 'fast-check'
import {
  type ApplicationScript,
  type ControllerScript,
  callKinds,
  type Fault,
  type Happening,
  type HistoryScript,
  shapes,
  type TaskScript,
} from './history-script.ts'

const minute = 60_000
const often = <Value>(value: Value, ...others: readonly Value[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constantFrom(value, ...others) })

/** A value, or now and then one of the others. */
const mostly = <Value>(value: Value, ...others: readonly Value[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: fc.constantFrom(...others) })

const aMoment = fc.integer({ min: 0, max: 60 }).map((seconds) => seconds * 1_000)
const anApp = fc.integer({ min: 0, max: 1 })
const aTag = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('v1', 'v2', 'v2', 'v3') },
  { weight: 1, arbitrary: fc.constantFrom('v2-bad', 'v2-crash', 'v2-flap', 'v2-fail') },
)

const aController: fc.Arbitrary<ControllerScript> = fc.record({
  version: fc.constantFrom('3.5', '3.6', '2.14'),
  replicas: often(1, 2, 3),
  staleLiveCache: fc.constantFrom(0.3, 0, 1),
  podReadyMs: often(1_000, 3_000, 20_000, 100_000),
  terminationMs: often(3_000, 500, 30_000),
  progressDeadlineMs: often(600_000, 15_000, 30_000),
  latePullMs: fc.constantFrom(140_000, 30_000, 170_000),
  customResourceLagMs: often(1_000, 3_000, 4_500, 8_000),
  informerLagMs: often(20, 200, 2_000),
  burstGapMs: often(0, 300, 3_000),
})

const anApplication: fc.Arbitrary<ApplicationScript> = fc.record({
  shape: fc.constantFrom(...shapes, 'deployment', 'two-deployments'),
  isMultiSource: often(false, true),
  sync: often<ApplicationScript['sync']>('automated', 'without-self-heal', 'automated', 'manual'),
  retryLimit: fc.constantFrom(0, 1, 5),
  hasNarrowPaths: mostly(false, true),
  isManaged: mostly(true, false),
  start: mostly<ApplicationScript['start']>('settled', 'empty', 'empty', 'missing'),
})

const aTask: fc.Arbitrary<TaskScript> = fc.record({
  app: often(0, 1),
  atMs: aMoment,
  tag: aTag,
  wants: mostly<TaskScript['wants']>('what there is', 'main', 'both'),
  hasCredential: often(true, false),
  mayRefresh: often(true, true, false),
  windowMs: often(4 * minute, minute, 2 * minute, 8 * minute),
  supersedes: fc.boolean(),
  pushDelayMs: often(500, 50, 5_000, 100_000),
  push: fc.oneof(
    { weight: 30, arbitrary: fc.constant('lands' as const) },
    { weight: 1, arbitrary: fc.constant('is refused' as const) },
  ),
  rivalAfterMs: fc.option(
    fc.integer({ min: -5, max: 20 }).map((seconds) => seconds * 1_000),
    { nil: undefined, freq: 2 },
  ),
})

const aHappening: fc.Arbitrary<Happening> = fc
  .tuple(
    anApp,
    aMoment,
    fc.oneof(
      fc.record({
        kind: fc.constantFrom('rival-tag' as const, 'rival-worker-tag' as const, 'edit-live' as const),
        tag: aTag,
      }),
      fc.record({
        kind: fc.constantFrom(
          'rival-change' as const,
          'sync-by-hand' as const,
          'sync-by-hand' as const,
          'webhook' as const,
          'terminate' as const,
          'promote' as const,
          'abort' as const,
          'run-cron-job' as const,
          'delete-live' as const,
        ),
      }),
      fc.record({
        kind: fc.constant('delete' as const),
        backAfterMs: fc.constantFrom(2_000, 10_000, 25_000, 50_000, undefined),
      }),
      fc.record({
        kind: fc.constant('pods-behave' as const),
        behaviour: fc.constantFrom(
          'image-pull-error' as const,
          'pulled-late' as const,
          'pulled-late' as const,
          'crashes' as const,
          'never-ready' as const,
          'invalid-image-name' as const,
        ),
        forMs: fc.constantFrom(20_000, minute),
      }),
      fc.record({
        kind: fc.constantFrom(
          'sync-fails' as const,
          'repository-error' as const,
          'broken-override' as const,
          'window-closed' as const,
        ),
        forMs: fc.constantFrom(10_000, 30_000, 70_000, 150_000, 400_000),
      }),
    ),
  )
  .map(([app, atMs, what]) => ({ app, atMs, ...what }))

const aFault: fc.Arbitrary<Fault> = fc
  .tuple(
    aMoment,
    fc.constantFrom(500, 5_000, 20_000, minute, 5 * minute),
    fc.oneof(
      fc.record({
        kind: fc.constant('refuse-calls' as const),
        outcome: fc.constantFrom('forbidden' as const, 'unauthorized' as const, 'unreachable' as const),
        calls: fc.oneof(fc.constant(callKinds), fc.subarray([...callKinds], { minLength: 1 })),
        often: fc.constantFrom(10, 5, 2),
      }),
      fc.record({ kind: fc.constant('slow-calls' as const), delayMs: fc.constantFrom(500, 3_000, 9_000) }),
      fc.record({
        kind: fc.constant('cut-stream' as const),
        how: fc.constantFrom('clean' as const, 'error' as const, 'in-a-line' as const),
      }),
      fc.record({ kind: fc.constant('stall-stream' as const) }),
      fc.record({
        kind: fc.constant('hold-replica' as const),
        replica: fc.integer({ min: 0, max: 2 }),
        release: fc.constantFrom('events' as const, 'relist' as const),
      }),
      fc.record({
        kind: fc.constantFrom('lose-events' as const, 'duplicate-events' as const),
        count: fc.integer({ min: 1, max: 12 }),
      }),
      fc.record({ kind: fc.constant('drop-refresh' as const) }),
      fc.record({ kind: fc.constant('hang-refresh' as const), app: anApp }),
      fc.record({ kind: fc.constantFrom('git-steps-back' as const, 'history-unknown' as const) }),
      fc.record({ kind: fc.constant('records-down' as const) }),
      fc.record({ kind: fc.constant('skew-clock' as const), byMs: fc.constantFrom(-90_000, 90_000, 3_600_000) }),
      fc.record({ kind: fc.constantFrom('take-over' as const, 'restart' as const) }),
    ),
  )
  .map(([fromMs, forMs, what]) => ({ fromMs, forMs, ...what }))

/** Troubles that last longer than a grace and pass: after them a task fails that would have got well. */
const troubles: readonly ((app: number, atMs: number) => readonly Happening[])[] = [
  (app, atMs) => [{ app, atMs, kind: 'pods-behave', behaviour: 'pulled-late', forMs: 60_000 }],
  (app, atMs) => [{ app, atMs: atMs + 3_000, kind: 'delete', backAfterMs: 50_000 }],
  (app, atMs) => [{ app, atMs: atMs + 4_000, kind: 'broken-override', forMs: 150_000 }],
  (app, atMs) => [
    { app, atMs, kind: 'sync-fails', forMs: 30_000 },
    { app, atMs: atMs + 200_000, kind: 'sync-by-hand' },
  ],
]

function withPassingTrouble(script: HistoryScript, trouble: number | undefined): HistoryScript {
  const [first] = script.tasks
  const happen = trouble === undefined ? undefined : troubles[trouble]
  if (first === undefined || happen === undefined) return script
  const { app, atMs } = first
  const index = app % script.applications.length
  const task: TaskScript = { ...first, tag: 'v2', wants: 'what there is', windowMs: 8 * minute, ...landing }
  return {
    ...script,
    applications: script.applications.map((one, at) => (at === index ? { ...one, ...ordinary } : one)),
    tasks: [task, ...script.tasks.filter((other) => other.app % script.applications.length !== index)],
    happenings: [...script.happenings, ...happen(app, atMs + 100)],
  }
}

const landing = { hasCredential: true, push: 'lands', pushDelayMs: 500, rivalAfterMs: undefined } as const
const ordinary = { isManaged: true, start: 'settled', sync: 'automated', hasNarrowPaths: false, retryLimit: 0 } as const

const aTrouble: fc.Arbitrary<number | undefined> = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.nat({ max: troubles.length - 1 }) },
)

const aPlainScript: fc.Arbitrary<HistoryScript> = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
  controller: aController,
  watcher: fc.record({ isStrict: mostly(false, true) }),
  applications: fc.array(anApplication, { minLength: 1, maxLength: 2 }),
  tasks: fc.array(aTask, { minLength: 1, maxLength: 3 }),
  happenings: fc.array(aHappening, { maxLength: 3 }),
  faults: fc.array(aFault, { maxLength: 4 }),
})

/** Histories: applications of all kinds, tasks, what people do meanwhile, and what goes wrong. */
export const aScript: fc.Arbitrary<HistoryScript> = fc
  .tuple(aPlainScript, aTrouble)
  .map(([script, trouble]) => withPassingTrouble(script, trouble))
