import { exitCodes } from '../../contract/exit-codes.ts'
import type { TaskRecord, TaskSubmission } from '../../contract/task.ts'
import { ExitError, severityOf, worstExit } from '../exit.ts'
import { askAgain } from '../follow/ask-again.ts'
import { followTask } from '../follow/follow-task.ts'
import type { Outcome, Rejection } from '../follow/outcome.ts'
import { submissionPatienceMs, submit } from '../follow/submit.ts'
import type { Api } from '../http/api.ts'
import { NoAnswerError } from '../http/connection-errors.ts'
import type { KeyedSubmission } from '../input/submissions.ts'
import { createProgressLines } from '../output/progress-lines.ts'
import { reportOf } from '../output/report.ts'
import type { Row, Screen } from '../output/screen.ts'
import { titleOf } from '../output/words.ts'
import type { Listener } from '../run.ts'

/** Browsers and proxies allow so many for one host; more tasks are asked for in turn. */
const maxStreams = 8
/** Of a task that was not read yet: the service's usual timeout. */
const usualTimeoutSeconds = 900
const cancelLimitMs = 10_000
/** GitHub ends a job 10 s after it was cancelled. */
const submissionGraceMs = 5_000

export type Options = {
  /** Asks with the credential of the moment. */
  readonly api: Api
  /** Opens one that goes on with the credential of now. @throws {NoAnswerError | ExitError} where there is none to be had */
  readonly openApi: () => Promise<Api>
  readonly screen: Screen
  readonly interrupted: AbortSignal
  readonly listener?: Listener | undefined
  readonly cancelOnInterrupt: boolean
  /** What to do about a credential that was refused, on a line. */
  readonly advise: () => string
}

/**
 * Submits deployments one by one, and follows them together. One that is rejected does not stop the others.
 * The credential that submits a task also reads and cancels it, as the service lets it do so past its end.
 * `isDetached`: follows none.
 */
export async function deployAll(
  submissions: readonly KeyedSubmission[],
  options: Options & { readonly isDetached: boolean },
): Promise<readonly Outcome[]> {
  const { api, openApi, screen, interrupted, cancelOnInterrupt, advise, isDetached } = options
  const follow = createFollower(options)
  const begun: Promise<Outcome>[] = []
  // A submission under way is what is cancelled, so its id is awaited.
  const signal = cancelOnInterrupt ? abortedLater(interrupted, submissionGraceMs) : interrupted
  let patienceMs = submissionPatienceMs
  for (const [at, { submission, key }] of submissions.entries()) {
    if (interrupted.aborted) break
    const { app } = submission
    const own = await openApi().catch((error) => (interrupted.aborted ? undefined : withoutCredential(error, app)))
    if (own === undefined) break
    if ('kind' in own) {
      const left = submissions.slice(at).map(({ submission }) => ({ ...own, app: submission.app }))
      begun.push(...left.map((rejection) => Promise.resolve(rejection)))
      break
    }
    const result = await submit(own, submission, key, { signal, patienceMs, onPause: sayPause(screen, app) }).catch(
      (error) => {
        if (!interrupted.aborted) throw error
      },
    )
    if (result === undefined) {
      screen.say(`${app}: interrupted while it was submitted; it may have been accepted`)
      begun.push(Promise.resolve({ kind: 'interrupted', app }))
      break
    }
    if (typeof result !== 'string') {
      // A server that is away for one is away for all: the others are tried once.
      if (result.exitCode === exitCodes.unreachable) patienceMs = 0
      begun.push(Promise.resolve(advised(result, advise)))
    } else if (isDetached) {
      screen.say(`${app} submitted: ${api.pageOf(result)}`)
      begun.push(Promise.resolve({ kind: 'submitted', id: result, app }))
    } else begun.push(follow(own, result, submission))
  }
  return Promise.all(begun)
}

/** The CI gives no credential; what was not submitted yet is not tried. */
function withoutCredential(error: unknown, app: string): Rejection {
  if (error instanceof ExitError) return { kind: 'rejected', app, exitCode: error.code, error: error.message }
  if (!(error instanceof NoAnswerError)) throw error
  return { kind: 'rejected', app, exitCode: exitCodes.unreachable, error: error.message }
}

const advised = <Any extends Outcome>(outcome: Any, advise: () => string): Any =>
  outcome.kind === 'rejected' && outcome.exitCode === exitCodes.not_authorized
    ? { ...outcome, advice: advise() }
    : outcome

function abortedLater(signal: AbortSignal, delayMs: number): AbortSignal {
  const later = new AbortController()
  signal.addEventListener('abort', () => void setTimeout(() => later.abort(), delayMs).unref())
  return later.signal
}

/** Follows tasks that exist. */
export const followAll = (ids: readonly string[], options: Options): Promise<readonly Outcome[]> => {
  const follow = createFollower(options)
  return Promise.all(ids.map(async (id) => advised(await follow(options.api, id), options.advise)))
}

function createFollower({ screen, interrupted, listener, cancelOnInterrupt }: Options) {
  const streams = { free: maxStreams }
  return async (api: Api, id: string, submission?: TaskSubmission): Promise<Outcome> => {
    const watched = createWatched(screen, api.pageOf(id))
    const pause = sayPause(screen, submission?.app ?? id)
    listener?.onTask(id)
    try {
      const outcome = await followTask(id, {
        api,
        streams,
        signal: interrupted,
        isAccepted: submission !== undefined,
        timeoutSeconds: submission?.timeout || usualTimeoutSeconds,
        onTask: watched.read,
        onEvent(event) {
          watched.happen(event)
          listener?.onEvent(event)
        },
        onPause: (error) => pause(error, watched.app()),
      })
      if (outcome.kind === 'ended') watched.end(outcome.task)
      return outcome
    } catch (error) {
      if (!interrupted.aborted) throw error
      const cancelled = cancelOnInterrupt ? await cancel(api, screen, id) : sayGoesOn(screen, api.pageOf(id), id)
      return cancelled ?? { kind: 'interrupted', id, app: watched.app() ?? submission?.app ?? id }
    }
  }
}

/** Shows one task as it is read and as its events come. */
function createWatched(screen: Screen, url: string) {
  let shown: { readonly row: Row; readonly created: number; readonly lines: ReturnType<typeof createProgressLines> }
  let isShown = false
  const step = (atSeconds: number, text: string) => screen.step(shown.row, atSeconds, text)
  return {
    app: () => (isShown ? shown.row.app : undefined),
    read(task: TaskRecord, now: number, isPolled: boolean): void {
      if (!isShown) {
        const startedMs = performance.now() - (now - task.created) * 1_000
        const row = { app: task.app, title: titleOf(task), url, startedMs }
        shown = { row, created: task.created, lines: createProgressLines() }
        isShown = true
        screen.begin(row)
      } else if (isPolled) {
        const text = shown.lines.awaits(task.unmet_condition)
        if (text !== undefined && task.status === 'in progress') step(now - task.created, text)
      }
    },
    happen(event: Parameters<typeof shown.lines.of>[0]): void {
      for (const text of shown.lines.of(event)) step(event.at - shown.created, text)
    },
    end: ({ status, created, updated }: TaskRecord) => screen.finish(shown.row, updated - created, status),
  }
}

/** Says each reason once: a server that is away for minutes fills no log. */
function sayPause(screen: Screen, subject: string) {
  let said = ''
  return ({ message }: NoAnswerError, app = subject): void => {
    if (message !== said) screen.say(`${app}: ${message}; asking again`)
    said = message
  }
}

function sayGoesOn(screen: Screen, url: string, id: string): undefined {
  screen.say(`Interrupted. The deployment goes on: ${url}`)
  screen.say(`Follow it with: deployment-watcher wait ${id}`)
}

async function cancel(api: Pick<Api, 'cancel'>, screen: Screen, id: string): Promise<Outcome | undefined> {
  const giveUpAt = performance.now() + cancelLimitMs
  const limit = AbortSignal.timeout(cancelLimitMs)
  const signal = new AbortController().signal // a second interruption ends the process
  try {
    const { task } = await askAgain(() => api.cancel(id, limit), { giveUpAt: () => giveUpAt, signal })
    screen.say(`Interrupted. ${titleOf(task)} is ${task.status}.`)
    return { kind: 'ended', task }
  } catch (error) {
    screen.say(`Interrupted. Task ${id} could not be cancelled: ${(error as Error).message}`)
  }
}

/** Reports what failed, the worst first. @returns the exit code */
export function reportAll(outcomes: readonly Outcome[], screen: Screen, api: Pick<Api, 'pageOf'>): number {
  const reports = outcomes
    .map((outcome) => reportOf(outcome, api.pageOf))
    .toSorted((one, other) => severityOf(one.exitCode) - severityOf(other.exitCode))
  for (const { lines } of reports) screen.report(lines)
  const [worst] = reports
  if (worst !== undefined && worst.lines.length > 0) screen.annotate(worst.title, worst.lines[0] ?? '')
  return worstExit(reports.map(({ exitCode }) => exitCode))
}
