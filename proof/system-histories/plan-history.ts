import type { GitHostFault } from '../../simulator/git-host/ssh-git-host.ts'
import type { StreamEnding } from '../../simulator/http/event-stream.ts'
import type { HttpFault, HttpFaultAction } from '../../simulator/http/http-faults.ts'
import { pickFrom, type Random, seededRandom } from '../../simulator/model/random.ts'
import type { LineState } from '../../test/support/fault-proxy.ts'

export const replicaCount = 3
export const applications = ['shop', 'web', 'api'] as const
/** Seconds that tasks get: short, so that a history ends soon. */
const windows = [4, 6, 8] as const
const commandsMs = 10_000

export type Credential = 'token' | 'none' | 'bad'
type Line = 'database' | 'controller'
/** What goes wrong inside of the delivery controller. */
export type ControllerMood = (typeof controllerMoods)[number]
const controllerMoods = [
  'refreshes hang',
  'syncs fail',
  'comparisons see the commit before',
  'events are lost',
  'events come twice',
  'caches stand still',
  'well',
  'well',
] as const

type Command =
  | {
      kind: 'submit'
      replica: number
      app: string
      tag: string
      credential: Credential
      timeout: number
      isKeyed: boolean
    }
  /**
   * The same body again, as a pipeline does that heard no answer, with the Idempotency-Key it had, if any. `submission`
   * counts from the first. One that `isChanged` asks for another tag.
   */
  | { kind: 'resend'; replica: number; submission: number; isChanged: boolean }
  | { kind: 'read'; replica: number; submission: number }
  | { kind: 'cancel'; replica: number; submission: number; credential: Credential }
  | { kind: 'list'; replica: number }
  | { kind: 'lock' | 'unlock'; replica: number }
  | { kind: 'kill' | 'stop' | 'start' | 'freeze' | 'thaw'; replica: number }
  | { kind: 'line'; replica: number; line: Line; mood: LineState }
  | { kind: 'cut'; replica: number; line: Line }
  | { kind: 'git_line'; mood: LineState }
  | { kind: 'cut_git' }
  | { kind: 'git_host'; fault: GitHostFault; times: number }
  | { kind: 'identity_line'; mood: LineState }
  | { kind: 'controller_answers'; fault: HttpFault }
  | { kind: 'controller_streams'; how: StreamEnding | 'stall' }
  | { kind: 'controller_mood'; app: string; mood: ControllerMood }
  | { kind: 'rival'; app: string; writes: 'elsewhere' | 'override' }
  | { kind: 'annotate' | 'recreate'; app: string }
  | { kind: 'pods'; app: string; behaviour: 'never-ready' | 'image-pull-error' | undefined }

export type Step = Command & { readonly atMs: number }

export type HistoryPlan = {
  readonly seed: number
  /** `safety`: faults until the end of the commands. `liveness`: healed half-way, then commands alone. */
  readonly mode: 'safety' | 'liveness'
  readonly steps: readonly Step[]
  readonly healAtMs: number
}

type Kind = Command['kind']
/** How often each is tried; an unlock with no lock is none. */
const commandKinds = repeated({ submit: 10, resend: 3, read: 2, list: 1, cancel: 1, lock: 1, unlock: 6 })
const faultKinds = repeated({
  kill: 2,
  stop: 1,
  start: 2,
  freeze: 1,
  thaw: 1,
  line: 3,
  cut: 1,
  git_line: 2,
  cut_git: 1,
  git_host: 2,
  identity_line: 1,
  controller_answers: 2,
  controller_streams: 1,
  controller_mood: 2,
  rival: 2,
  annotate: 1,
  recreate: 1,
  pods: 1,
})

function repeated(weights: Partial<Record<Kind, number>>): readonly Kind[] {
  return Object.entries(weights).flatMap(([kind, times]) => Array.from({ length: times }, () => kind as Kind))
}

/** The choices of one history: the same for the same seed, though not the moments at which they take effect. */
export function planHistory(seed: number, mode: HistoryPlan['mode']): HistoryPlan {
  const random = seededRandom(seed * 2 + (mode === 'safety' ? 0 : 1))
  const healAtMs = mode === 'safety' ? commandsMs : commandsMs / 2
  const faultShare = pickFrom(random, [0.2, 0.5])
  const liked = weightedFaults(random)
  const steps: Step[] = []
  const running = new Set(Array.from({ length: replicaCount }, (_, index) => index))
  const dead = new Set<number>()
  const frozen = new Set<number>()
  let tags = 0
  let submissions = 0
  let isLocked = false
  for (let atMs = 0; atMs < commandsMs; atMs += pickFrom(random, [20, 350])) {
    const isFault = atMs < healAtMs && random() < faultShare
    const kind = pick(random, isFault ? liked : commandKinds)
    if ((kind === 'kill' || kind === 'stop' || kind === 'freeze') && running.size < 2) continue
    const command = chooseCommand(random, kind, {
      running,
      dead,
      frozen,
      submissions,
      isLocked,
      nextTag: () => `v${++tags}`,
    })
    if (command === undefined) continue
    if (command.kind === 'lock' || command.kind === 'unlock') isLocked = command.kind === 'lock'
    if (command.kind === 'submit' || command.kind === 'resend') submissions += 1
    if (command.kind === 'kill' || command.kind === 'stop') move(command.replica, running, dead)
    if (command.kind === 'freeze') move(command.replica, running, frozen)
    if (command.kind === 'start') move(command.replica, dead, running)
    if (command.kind === 'thaw') move(command.replica, frozen, running)
    steps.push({ ...command, atMs: Math.round(atMs) })
  }
  return { seed, mode, steps, healAtMs }
}

function move(replica: number, from: Set<number>, to: Set<number>): void {
  from.delete(replica)
  to.add(replica)
}

/** Each seed prefers some faults, so that many seeds together see rare ones often. */
function weightedFaults(random: Random): readonly Kind[] {
  return faultKinds.flatMap((kind) => Array.from({ length: 1 + Math.floor(random() * random() * 5) }, () => kind))
}

type Situation = {
  readonly running: ReadonlySet<number>
  readonly dead: ReadonlySet<number>
  readonly frozen: ReadonlySet<number>
  readonly submissions: number
  readonly isLocked: boolean
  readonly nextTag: () => string
}

function chooseCommand(random: Random, kind: Kind, situation: Situation): Command | undefined {
  const { running, dead, frozen, submissions, isLocked, nextTag } = situation
  const replica = pick(random, [...running])
  const app = pick(random, applications)
  const submission = Math.max(0, submissions - 1 - Math.floor(random() * 6))
  switch (kind) {
    case 'submit': {
      const isKeyed = random() < 0.6
      return {
        kind,
        replica,
        app,
        tag: nextTag(),
        credential: credential(random),
        timeout: pick(random, windows),
        isKeyed,
      }
    }
    case 'resend':
      return submissions === 0 ? undefined : { kind, replica, submission, isChanged: random() < 0.2 }
    case 'read':
      return submissions === 0 ? undefined : { kind, replica, submission }
    case 'cancel':
      return submissions === 0 ? undefined : { kind, replica, submission, credential: credential(random) }
    case 'lock':
    case 'unlock':
      return isLocked === (kind === 'unlock') ? { kind, replica } : undefined
    case 'list':
    case 'kill':
    case 'stop':
    case 'freeze':
      return { kind, replica }
    case 'start':
      return dead.size === 0 ? undefined : { kind, replica: pick(random, [...dead]) }
    case 'thaw':
      return frozen.size === 0 ? undefined : { kind, replica: pick(random, [...frozen]) }
    case 'line':
      return { kind, replica, line: pick(random, ['database', 'controller']), mood: chooseLineState(random) }
    case 'cut':
      return { kind, replica, line: pick(random, ['database', 'controller']) }
    case 'git_line':
      return { kind, mood: chooseLineState(random) }
    case 'cut_git':
      return { kind }
    case 'git_host':
      return { kind, fault: chooseGitFault(random), times: pick(random, [1, 2, 5]) }
    case 'identity_line':
      return { kind, mood: chooseLineState(random) }
    case 'controller_answers':
      return { kind, fault: chooseHttpFault(random) }
    case 'controller_streams':
      return { kind, how: pick(random, ['eof', 'reset', 'mid-line', 'unfinished', 'stall']) }
    case 'controller_mood':
      return { kind, app, mood: pick(random, controllerMoods) }
    case 'rival':
      return { kind, app, writes: pick(random, ['elsewhere', 'elsewhere', 'override']) }
    case 'annotate':
    case 'recreate':
      return { kind, app }
    case 'pods':
      return { kind, app, behaviour: pick(random, ['never-ready', 'image-pull-error', undefined, undefined]) }
  }
}

function chooseLineState(random: Random): LineState {
  const moods: readonly LineState[] = [
    'refuse',
    'swallow',
    { delayMs: Math.round(pickFrom(random, [50, 900])) },
    { cutAfterBytes: Math.round(pickFrom(random, [300, 20_000])) },
    'well',
    'well',
    'well',
  ]
  return pick(random, moods)
}

function chooseGitFault(random: Random): GitHostFault {
  return pick<GitHostFault>(random, [
    { kind: 'hang' },
    { kind: 'close' },
    { kind: 'refuse-key' },
    { kind: 'reject', message: 'the branch is protected' },
    { kind: 'delay', ms: Math.round(pickFrom(random, [100, 2_000])) },
  ])
}

function chooseHttpFault(random: Random): HttpFault {
  const action = pick<HttpFaultAction>(random, [
    { kind: 'error', status: pick(random, [401, 403, 404, 429, 500, 503, 504]) },
    { kind: 'html', status: pick(random, [200, 502]) },
    { kind: 'delay', ms: Math.round(pickFrom(random, [100, 3_000])) },
    { kind: 'hang' },
    { kind: 'reset' },
    { kind: 'truncate' },
  ])
  const calls = pick<HttpFault['calls']>(random, [
    undefined,
    ['get'],
    ['refresh'],
    ['list'],
    ['stream'],
    ['tree', 'managed-resources'],
  ])
  return { ...(calls ? { calls } : {}), times: pick(random, [1, 3, 10]), action }
}

const credential = (random: Random): Credential =>
  pick(random, ['token', 'token', 'token', 'token', 'none', 'none', 'bad'])

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined && !values.includes(value as Value)) throw new Error('nothing to choose from')
  return value as Value
}
