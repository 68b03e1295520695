import type { streamStates } from '../../contract/health.ts'
import type { Clock } from '../concurrency/clock.ts'
import type { ApplicationList, ReadOutcome } from '../rollout/observed/delivery-controller.ts'
import type { ObservedApplication } from '../rollout/observed/observed-application.ts'
import type { StreamOpening } from './argo-cd-client.ts'
import { createFrameReader, type StreamFrame } from './parse/stream-frames.ts'

const streamTimes = {
  liveMs: 20_000,
  watchdogMs: 45_000,
  quietMs: 500,
  listEveryMs: 60_000,
  listJitterMs: 10_000,
  directReadEveryMs: 15_000,
  directReadEveryWhenManyMs: 120_000,
  firstBackoffMs: 500,
  maxBackoffMs: 30_000,
  stableConnectionMs: 60_000,
  /** Also how soon a renewed token is noticed. */
  refusedRetryMs: 8_000,
  maxBurstMs: 5_000,
  /** A connection that never says anything may be dead. */
  firstByteMs: 600_000,
  liveOnlyWaitMs: 1_000,
  listSoonMs: 100,
} as const

/** Above this a List costs more than reading the applications that matter. */
const manyApplications = 500

export type StreamState = {
  readonly state: (typeof streamStates)[number]
  readonly why: string | undefined
  readonly lastByteAtMs: number | undefined
}

export type ApplicationStreamDeps = {
  readonly clock: Clock
  /** Between 0 and 1. */
  random(): number
  openStream(options: { readonly liveOnly: boolean; readonly signal: AbortSignal }): Promise<StreamOpening>
  listApplications(): Promise<ReadOutcome<ApplicationList>>
  readLargeFrame(line: Uint8Array): Promise<StreamFrame>
  /** How many applications unfinished tasks wait for. */
  watchedApps(): number
  /** Reads them directly, each in its turn. */
  readWatched(): void
  /** While a probe fails it stands for all calls, those of the stream included. */
  isUnreachable(): boolean
  /** A connect has failed: find out whether all calls do. */
  checkReachability(): void
  onUpdate(kind: 'seen' | 'deleted', application: ObservedApplication): void
  onListed(list: ApplicationList, askedAtMs: number): void
  onError(message: string, error: unknown): void
  onEnded(facts: { readonly reason: string; readonly retryInMs: number }): void
}

/**
 * Keeps one stream of all applications open for this replica and makes up for what it loses: after each connect and every
 * minute a List, and direct reads while no byte has come for 20 s. The stream itself replays nothing and drops events silently.
 */
export function createApplicationStream(deps: ApplicationStreamDeps) {
  const { clock } = deps
  let state: StreamState['state'] = 'connecting'
  let why: string | undefined
  let lastByteAtMs: number | undefined
  /** Also of an earlier connection. */
  let heardAtMs = clock.nowMs()
  const seenUids = new Set<string>()
  let failures = 0
  let connectedAtMs = 0
  let isCatchingUp = false
  let isClosed = false
  let abort = new AbortController()
  const timers = new Map<string, () => void>()

  const isLargeInstallation = () => seenUids.size > manyApplications
  const isLive = () =>
    state === 'open' && lastByteAtMs !== undefined && clock.nowMs() - lastByteAtMs < streamTimes.liveMs

  /** One timer a purpose. Whatever fails in it is reported and stops nothing. */
  const later = (purpose: string, delayMs: number, run: () => unknown) => {
    timers.get(purpose)?.()
    if (isClosed) return
    const cancel = clock.setTimer(delayMs, () => {
      timers.delete(purpose)
      void attempt(failureOf(purpose), run)
    })
    timers.set(purpose, cancel)
  }
  const attempt = async (message: string, run: () => unknown) => {
    try {
      await run()
    } catch (error) {
      deps.onError(message, error)
    }
  }

  const connect = async () => {
    if (isClosed) return
    if (deps.isUnreachable()) return later('connect', streamTimes.firstBackoffMs, connect)
    abort = new AbortController()
    const { signal } = abort
    connectedAtMs = clock.nowMs()
    state = 'connecting'
    lastByteAtMs = undefined
    isCatchingUp = true
    // Headers come with the first event, so that a silent start is no failure; the state is brought up to date meanwhile.
    later('resync', streamTimes.liveOnlyWaitMs, resync)
    later('watchdog', streamTimes.firstByteMs, abortSilentStream)
    const opening = await deps.openStream({ liveOnly: isLargeInstallation(), signal }).catch(unexpected)
    if (isClosed) return
    if (opening.kind !== 'open') {
      if (opening.kind !== 'forbidden') deps.checkReachability()
      return retry(opening.why, opening.kind !== 'unreachable')
    }
    state = 'open'
    why = undefined
    const end = await readAll(opening.body, signal)
    if (isClosed) return
    if (clock.nowMs() - connectedAtMs >= streamTimes.stableConnectionMs) failures = 0
    retry(end, false)
  }

  const retry = (reason: string, isRefused: boolean) => {
    state = isRefused ? 'refused' : 'connecting'
    why = reason
    timers.get('watchdog')?.()
    timers.delete('watchdog')
    later('resync', nextListMs(isLargeInstallation(), deps.random()), resync)
    const backoffMs = Math.min(streamTimes.maxBackoffMs, streamTimes.firstBackoffMs * 2 ** failures)
    failures += 1
    const delayMs = isRefused ? streamTimes.refusedRetryMs : backoffMs * (0.5 + deps.random() / 2)
    deps.onEnded({ reason, retryInMs: Math.round(delayMs) })
    later('connect', delayMs, connect)
  }

  /** Reads until the end and says why it came. */
  const readAll = async (body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<string> => {
    const frames = createFrameReader()
    try {
      for await (const chunk of body) {
        noteByte()
        for (const frame of frames.push(chunk)) {
          const parsed = frame.kind === 'large' ? await deps.readLargeFrame(frame.line) : frame
          if (take(parsed) === 'end') return why ?? 'error'
        }
      }
      for (const frame of frames.end()) take(frame)
      return why ?? 'end of stream'
    } catch (error) {
      return signal.aborted ? (why ?? 'aborted') : error instanceof Error ? error.message : 'cut'
    }
  }

  const noteByte = () => {
    waitForQuiet()
    lastByteAtMs = heardAtMs = clock.nowMs()
    later('watchdog', streamTimes.watchdogMs, abortSilentStream)
  }

  /** The burst after a connect has no end mark; on a busy installation it is not waited for endlessly. */
  const waitForQuiet = () => {
    if (isCatchingUp && clock.nowMs() - connectedAtMs < streamTimes.maxBurstMs)
      later('resync', streamTimes.quietMs, resync)
  }

  const abortSilentStream = () => {
    why = 'no data received in time'
    abort.abort()
  }

  const take = (frame: StreamFrame): 'end' | undefined => {
    if (frame.kind === 'keepalive') return undefined
    if (frame.kind === 'seen' || frame.kind === 'deleted') {
      seenUids.add(frame.application.uid)
      if (frame.kind === 'deleted') seenUids.delete(frame.application.uid)
      try {
        deps.onUpdate(frame.kind, frame.application)
      } catch (error) {
        deps.onError('handling an application update failed', error)
      }
    }
    if (frame.kind !== 'error') return undefined
    why = frame.message
    return 'end'
  }

  /** Brings everything up to date, and again every minute. */
  const resync = async () => {
    isCatchingUp = false
    later('resync', nextListMs(isLargeInstallation(), deps.random()), resync)
    if (deps.watchedApps() === 0 || deps.isUnreachable()) return
    if (isLargeInstallation()) return deps.readWatched()
    const askedAtMs = clock.nowMs()
    const outcome = await deps.listApplications()
    if (outcome.kind !== 'read' || isClosed) return
    // Applications that were deleted while there was no stream are no longer counted.
    seenUids.clear()
    for (const { uid } of outcome.value.applications) seenUids.add(uid)
    deps.onListed(outcome.value, askedAtMs)
  }

  const pollIfStale = () => {
    later('direct', streamTimes.directReadEveryMs, pollIfStale)
    if (!isLive()) deps.readWatched()
  }

  later('connect', 0, connect)
  later('direct', streamTimes.directReadEveryMs, pollIfStale)

  return {
    /** Many tasks were taken over: one List shows all of their applications, which would otherwise be read one by one. */
    listSoon() {
      if (!isCatchingUp && !isLargeInstallation()) later('resync', streamTimes.listSoonMs, resync)
    },
    streamState: (): StreamState => ({
      state: isClosed ? 'closed' : isLive() ? 'live' : state,
      why,
      lastByteAtMs,
    }),
    /** When the last byte came, or the stream was begun, if that is 20 s ago: a connection that is replaced is no silence. */
    silentSinceMs: (): number | undefined => (clock.nowMs() - heardAtMs < streamTimes.liveMs ? undefined : heardAtMs),
    async [Symbol.asyncDispose]() {
      isClosed = true
      abort.abort()
      for (const cancel of timers.values()) cancel()
    },
  }
}

function nextListMs(isLargeInstallation: boolean, random: number): number {
  const every = isLargeInstallation ? streamTimes.directReadEveryWhenManyMs : streamTimes.listEveryMs
  return every + (random * 2 - 1) * streamTimes.listJitterMs
}

const unexpected = (error: unknown): StreamOpening => ({
  kind: 'unreachable',
  why: error instanceof Error ? error.message : 'unexpected failure',
})

function failureOf(purpose: string): string {
  if (purpose === 'connect') return 'connecting the application stream failed, retrying'
  if (purpose === 'resync') return 'listing applications failed, retrying'
  if (purpose === 'watchdog') return 'closing the silent application stream failed'
  return 'reading a watched application failed, retrying'
}
