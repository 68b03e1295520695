import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { ConnectionObserver } from '../../../test/support/fault-proxy.ts'
import { createMessageReader } from '../../../test/support/postgres-messages.ts'
import type { Fault } from './fault.ts'
import {
  countViolations,
  deployment,
  type FaultWorld,
  startFaultWorld,
  submitUntilAccepted,
  trySubmit,
  untilAllEnded,
} from './fault-world.ts'

const inserted = /insert into "watcher"\."tasks"/i
const beginsPush = /^update "watcher"\."pending_writes" set "state" = .*"base" = /

type Mark = {
  /** A statement that a replica sends, or the answer to one. */
  readonly sent?: RegExp
  readonly received?: RegExp
  /** What its connection has sent before. */
  readonly after?: RegExp
  /** A command that the Git host gets. */
  readonly git?: RegExp
  readonly isAccepted?: boolean
  /** Only once the commit is on the branch. */
  readonly isCommitted?: boolean
  /** It is a step of the repository's owner, and not of the replica that the task was sent to. */
  readonly isOfPusher?: boolean
}

/** What shows, outside of the replica, that it has come to a step. */
const steps: Readonly<Record<string, Mark>> = {
  'body parsed': { sent: /pg_advisory_xact_lock/ },
  'lock row locked': { sent: /for share/i },
  'row inserted': { sent: inserted },
  commit: { sent: /^commit/i, after: inserted },
  'before reply': { received: /^COMMIT/, after: inserted },
  claimed: { isAccepted: true },
  fetched: { git: /upload-pack/, sent: beginsPush, isOfPusher: true },
  'committed locally': { sent: beginsPush, isOfPusher: true },
  pushed: { git: /receive-pack/, isOfPusher: true },
  'push acknowledged': { isCommitted: true, isOfPusher: true },
  recorded: { sent: /"watcher"\."repositories".*for update/s, isCommitted: true, isOfPusher: true },
  'event seen': { sent: /AS tasks SET updated = clock_timestamp\(\), progress = /, isCommitted: true },
  'end written': { sent: /WITH ended AS/ },
}

const stepLimitMs = 20_000
const handoverBarMs = 5_000

/** F36: the replica that works on a task is killed at each step. */
export const killedAtStep: Fault = async ({ times = 5 }) => {
  const watch = createStepWatch()
  const applications = Object.keys(steps).map((_, at) => `app-${at}`)
  await using world = await startFaultWorld({ applications, observeDatabase: watch.observer })
  await world.untilDatabaseHasSettled()
  const accepted: string[] = []
  const handoversMs: number[] = []
  const unreached: string[] = []
  for (let round = 0; round < times; round += 1) {
    for (const [at, [step, mark]] of Object.entries(steps).entries()) {
      const acceptedBy = (round + at) % world.running.length
      const { reached } = await watch.begin(acceptedBy, mark, world)
      const key = randomUUID()
      const task = deployment(`app-${at}`, `v${round}`)
      const first = trySubmit(world.replica(acceptedBy), task, key).then((answer) => {
        if (answer?.status === 202) watch.accepted()
        return answer
      })
      const victim = await reached
      if (victim === undefined) {
        unreached.push(step)
        continue
      }
      await world.replica(victim).kill('SIGKILL')
      const killedMs = performance.now()
      const answer = await first
      const id =
        answer?.status === 202
          ? (answer.body as { id: string }).id
          : await submitUntilAccepted(world, task, key, victim + 1)
      accepted.push(id)
      if (answer?.status === 202) handoversMs.push((await untilOwned(world, id)) - killedMs)
      await world.replica(victim).restart()
    }
  }
  const left = await untilAllEnded(world, 60_000)
  const { lost, ends } = await countViolations(world, accepted)
  const trailers = (await world.commits()).map(({ message }) => /Watcher-Task: (\S+)/.exec(message)?.[1])
  const doubled = trailers.length - new Set(trailers).size
  const wrong = await world.rows(`SELECT FROM watcher.tasks WHERE status NOT IN ('deployed', 'cancelled')`)
  const slowestMs = Math.max(...handoversMs)
  return {
    figure: `${times} times at each of ${applications.length} steps (not reached: ${unreached.join(', ') || 'none'}), ${lost} lost, ${accepted.length - new Set(accepted).size} doubled, ${ends} with other than one end, ${wrong.length} ended wrongly, ${doubled} commits doubled, ${left} unfinished, handed over after ${Math.round(slowestMs)} ms at most`,
    bar: `0 violations, <= ${handoverBarMs} ms`,
    isMet:
      unreached.length + lost + ends + doubled + left + wrong.length === 0 &&
      new Set(accepted).size === accepted.length &&
      slowestMs <= handoverBarMs,
  }
}

/** When a living replica owns the task, or it has ended. */
async function untilOwned({ rows }: FaultWorld, id: string): Promise<number> {
  const isOwned = `SELECT FROM watcher.tasks WHERE id = $1 AND (ended IS NOT NULL OR owner IN (SELECT id FROM watcher.replicas))`
  // The dead one's row stays until it was removed.
  const wasRemoved = `SELECT count(*)::integer AS alive FROM watcher.replicas`
  for (const end = performance.now() + 30_000; performance.now() < end; await delay(20)) {
    const [row] = await rows<{ alive: number }>(wasRemoved)
    if ((row?.alive ?? 3) < 3 && (await rows(isOwned, [id])).length > 0) return performance.now()
  }
  return Number.POSITIVE_INFINITY
}

type Awaited = {
  readonly acceptedBy: number
  readonly mark: Mark
  isNear: boolean
  readonly reach: (replica: number) => void
}

/** Notices when a replica reaches a step. */
function createStepWatch() {
  let awaited: Awaited | undefined
  let pusher: number | undefined
  const observer = (replica: number): ConnectionObserver => {
    let before = ''
    const note = (side: 'sent' | 'received', text: string) => {
      if (side === 'sent' && beginsPush.test(text)) pusher = replica
      const { mark, acceptedBy } = awaited ?? {}
      if (mark === undefined || !awaited?.isNear || !(mark.isOfPusher || acceptedBy === replica)) return
      if (mark[side]?.test(text) === true && (mark.after === undefined || mark.after.test(before)))
        awaited.reach(replica)
      if (side === 'sent' && mark.after?.test(text)) before = text
    }
    const readSent = createMessageReader('client', (type, body) => {
      const [first = '', second = ''] = body.toString('utf8').split('\0')
      if (type === 'Q') note('sent', first)
      if (type === 'P') note('sent', second)
    })
    const readReceived = createMessageReader('server', (type, body) => {
      if (type === 'C') note('received', body.toString('utf8'))
    })
    return { sent: readSent, received: readReceived, closed: () => undefined }
  }
  return {
    observer,
    accepted: () => {
      if (awaited?.mark.isAccepted) awaited.reach(awaited.acceptedBy)
    },
    /** `reached`: the replica that came to the step; undefined where none did in time. */
    async begin(acceptedBy: number, mark: Mark, { simulator }: FaultWorld) {
      const { promise, resolve } = Promise.withResolvers<number | undefined>()
      const head = () => simulator.git.head('gitops', 'main')
      const [commandsBefore, headBefore] = [simulator.git.host.commands().length, await head()]
      const watched: Awaited = { acceptedBy, mark, isNear: !mark.isCommitted, reach: resolve }
      awaited = watched
      const look = async () => {
        const ofGit = mark.isOfPusher ? (pusher ?? acceptedBy) : acceptedBy
        const commands = simulator.git.host.commands().slice(commandsBefore)
        if (mark.git !== undefined && commands.some(({ service }) => mark.git?.test(service))) resolve(ofGit)
        if (mark.isCommitted && (await head()) !== headBefore) {
          watched.isNear = true
          if (mark.sent === undefined) resolve(ofGit)
        }
      }
      const limit = setTimeout(() => resolve(undefined), stepLimitMs)
      const looking = mark.git !== undefined || mark.isCommitted ? setInterval(() => void look(), 10) : undefined
      const reached = promise.finally(() => {
        clearTimeout(limit)
        clearInterval(looking)
        awaited = undefined
      })
      return { reached }
    },
  }
}
