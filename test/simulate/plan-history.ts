import { pickFrom, type Random, seededRandom } from '../../simulator/model/random.ts'
import type { Mood } from '../support/fault-proxy.ts'

export const replicaCount = 3
export const applications = ['shop', 'web', 'api'] as const
/** Seconds that tasks get: short, so that a history ends soon. */
const windows = [4, 6, 8] as const
const commandsMs = 10_000

export type Credential = 'token' | 'none' | 'bad'
type Line = 'database' | 'controller'

type Command =
  | { kind: 'submit'; replica: number; app: string; tag: string; credential: Credential; timeout: number }
  /** The same body again, as a pipeline does that heard no answer. `submission` counts from the first. */
  | { kind: 'resend'; replica: number; submission: number }
  | { kind: 'read'; replica: number; submission: number }
  | { kind: 'cancel'; replica: number; submission: number; credential: Credential }
  | { kind: 'list'; replica: number }
  | { kind: 'kill' | 'stop' | 'start' | 'freeze' | 'thaw'; replica: number }
  | { kind: 'line'; replica: number; line: Line; mood: Mood }
  | { kind: 'cut'; replica: number; line: Line }
  | { kind: 'git_line'; mood: Mood }
  | { kind: 'cut_git' }
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
const commandKinds: readonly Kind[] = [
  'submit',
  'submit',
  'submit',
  'submit',
  'resend',
  'read',
  'read',
  'list',
  'cancel',
]
const faultKinds: readonly Kind[] = [
  'kill',
  'kill',
  'stop',
  'start',
  'start',
  'freeze',
  'thaw',
  'line',
  'line',
  'line',
  'cut',
  'git_line',
  'git_line',
  'cut_git',
  'rival',
  'rival',
  'annotate',
  'recreate',
  'pods',
]

/** The choices of one history: the same for the same seed, though not the moments at which they take effect. */
export function planHistory(seed: number, mode: HistoryPlan['mode']): HistoryPlan {
  const random = seededRandom(seed * 2 + (mode === 'safety' ? 0 : 1))
  const healAtMs = mode === 'safety' ? commandsMs : commandsMs / 2
  const faultShare = pickFrom(random, [0.25, 0.6])
  const liked = weightedFaults(random)
  const steps: Step[] = []
  const running = new Set(Array.from({ length: replicaCount }, (_, index) => index))
  const dead = new Set<number>()
  const frozen = new Set<number>()
  let tags = 0
  let submissions = 0
  for (let atMs = 0; atMs < commandsMs; atMs += pickFrom(random, [20, 350])) {
    const isFault = atMs < healAtMs && random() < faultShare
    const kind = pick(random, isFault ? liked : commandKinds)
    if ((kind === 'kill' || kind === 'stop' || kind === 'freeze') && running.size < 2) continue
    const command = chooseCommand(random, kind, { running, dead, frozen, submissions, nextTag: () => `v${++tags}` })
    if (command === undefined) continue
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
  readonly nextTag: () => string
}

function chooseCommand(random: Random, kind: Kind, situation: Situation): Command | undefined {
  const { running, dead, frozen, submissions, nextTag } = situation
  const replica = pick(random, [...running])
  const app = pick(random, applications)
  const submission = Math.max(0, submissions - 1 - Math.floor(random() * 6))
  switch (kind) {
    case 'submit':
      return { kind, replica, app, tag: nextTag(), credential: credential(random), timeout: pick(random, windows) }
    case 'resend':
    case 'read':
      return submissions === 0 ? undefined : { kind, replica, submission }
    case 'cancel':
      return submissions === 0 ? undefined : { kind, replica, submission, credential: credential(random) }
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
      return { kind, replica, line: pick(random, ['database', 'controller']), mood: chooseMood(random) }
    case 'cut':
      return { kind, replica, line: pick(random, ['database', 'controller']) }
    case 'git_line':
      return { kind, mood: chooseMood(random) }
    case 'cut_git':
      return { kind }
    case 'rival':
      return { kind, app, writes: pick(random, ['elsewhere', 'elsewhere', 'override']) }
    case 'annotate':
    case 'recreate':
      return { kind, app }
    case 'pods':
      return { kind, app, behaviour: pick(random, ['never-ready', 'image-pull-error', undefined, undefined]) }
  }
}

function chooseMood(random: Random): Mood {
  const moods: readonly Mood[] = [
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

const credential = (random: Random): Credential =>
  pick(random, ['token', 'token', 'token', 'token', 'none', 'none', 'bad'])

function pick<Value>(random: Random, values: readonly Value[]): Value {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined && !values.includes(value as Value)) throw new Error('nothing to choose from')
  return value as Value
}
