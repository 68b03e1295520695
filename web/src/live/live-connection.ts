import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import type { ServiceState } from '../../../contract/health.ts'
import type { TaskEvent } from '../../../contract/task-event.ts'

/** The stream says something every 15 s: a longer silence is a dead connection. */
const maxSilenceMs = 20_000
/** How often pages read while there is no stream. */
export const fallbackReadMs = 15_000
/** A service that restarts is back within two minutes; until then one waits for it as long as for a slow page. */
const [earlyMs, maxEarlyRetryMs, maxRetryMs] = [120_000, 5_000, 30_000]
const minRetryMs = 1_000

/** `cut`: there is no stream since `sinceMs`, and the next attempt is at `nextTryMs` (Unix milliseconds). */
export type ConnectionState =
  | { readonly kind: 'connecting' | 'live' }
  | { readonly kind: 'cut'; readonly sinceMs: number; readonly attempts: number; readonly nextTryMs: number }

/** What an EventSource is for this connection. */
export type Source = Pick<EventSource, 'close'> & {
  addEventListener(
    name: string,
    listener: (message: { readonly data: string; readonly lastEventId: string }) => void,
  ): void
}

export type Listeners = {
  /** Task events, at most once per animation frame. */
  tasks: (events: readonly TaskEvent[]) => void
  lock: (details: DeployLockDetails) => void
  /** Events may be missing: read what is shown. */
  read: () => void
  /** The state of the connection, or of Argo CD, is another one. */
  change: () => void
}

type Dependencies = {
  /** Opens the stream: after this event, or from now on. */
  readonly open: (after: number | undefined) => Source
  readonly nextFrame: (work: () => void) => void
  readonly nowMs: () => number
  /** From 0 to 1: many pages must not come back in the same moment. */
  readonly random: () => number
}

export type LiveConnection = ReturnType<typeof createLiveConnection>

/**
 * The one event stream of this page. A cut is followed by attempts after 1, 2, 4, 5, 5, … s, from two minutes on after up to
 * 30 s, each up to half of that earlier, and by reads every 15 s; a short one is resumed where it was cut, after a longer one and after a pause what is shown is read again.
 */
export function createLiveConnection({ open, nextFrame, nowMs, random }: Dependencies) {
  const listeners: { readonly [Name in keyof Listeners]: Set<Listeners[Name]> } = {
    tasks: new Set(),
    lock: new Set(),
    read: new Set(),
    change: new Set(),
  }
  let state: ConnectionState = { kind: 'connecting' }
  let argoCd: ServiceState['argo_cd'] | undefined
  let lock: DeployLockDetails | undefined
  let source: Source | undefined
  /** The last event, or the position that the stream named. Undefined: a new stream begins with a read. */
  let position: number | undefined
  let triedMs = 0
  let events: TaskEvent[] = []
  const keepers = new Set<object>()
  let [retry, silence, reads]: (ReturnType<typeof setTimeout> | undefined)[] = []

  const requestRead = () => {
    for (const listener of listeners.read) listener()
  }
  const setState = (next: ConnectionState) => {
    state = next
    for (const listener of listeners.change) listener()
  }
  const deliver = () => {
    const batch = events
    events = []
    for (const listener of listeners.tasks) listener(batch)
  }

  const stop = () => {
    source?.close()
    source = undefined
    clearTimeout(retry)
    clearTimeout(silence)
  }
  const onLost = () => {
    stop()
    const isFirst = state.kind !== 'cut'
    const attempts = state.kind === 'cut' ? state.attempts + 1 : 1
    const sinceMs = state.kind === 'cut' ? state.sinceMs : nowMs()
    const longestMs = nowMs() - sinceMs < earlyMs ? maxEarlyRetryMs : maxRetryMs
    const retryMs = Math.min(longestMs, 1_000 * 2 ** (attempts - 1)) * (0.5 + random() / 2)
    setState({ kind: 'cut', sinceMs, attempts, nextTryMs: nowMs() + retryMs })
    retry = setTimeout(connect, retryMs)
    if (!isFirst) return
    if (position === undefined) requestRead()
    reads = setInterval(() => {
      position = undefined
      requestRead()
    }, fallbackReadMs)
  }

  const connect = () => {
    stop()
    triedMs = nowMs()
    const opened = open(position)
    source = opened
    const onHeard = () => {
      clearTimeout(silence)
      silence = setTimeout(onLost, maxSilenceMs)
    }
    const on = (name: string, take: (data: string) => void) =>
      opened.addEventListener(name, ({ data, lastEventId }) => {
        if (opened !== source) return
        onHeard()
        if (lastEventId) position = Number(lastEventId)
        take(data)
      })
    onHeard()
    on('open', () => {
      clearInterval(reads)
      argoCd = undefined // a stream says so only while Argo CD is unavailable
      if (position === undefined) requestRead()
      setState({ kind: 'live' })
    })
    on('message', (data) => {
      if (events.length === 0) nextFrame(deliver)
      events.push(JSON.parse(data))
    })
    on('lock', (data) => {
      const details: DeployLockDetails = JSON.parse(data)
      lock = details
      for (const listener of listeners.lock) listener(details)
    })
    on('service', (data) => {
      const service: ServiceState = JSON.parse(data)
      argoCd = service.argo_cd
      setState(state)
    })
    on('reset', requestRead)
    on('alive', () => {})
    opened.addEventListener('error', () => {
      if (opened === source) onLost()
    })
  }

  return {
    connect,
    /** Closes the stream; what happens meanwhile is read at the next `connect`. */
    pause() {
      stop()
      clearInterval(reads)
      events = []
      position = undefined
      setState({ kind: 'connecting' })
    },
    /** Something says that the service may be back: the next attempt is now, at most one each second. */
    hurry() {
      const isWaiting = state.kind === 'cut' && source === undefined
      if (isWaiting && nowMs() - triedMs >= minRetryMs) connect()
    },
    /** Tries at once, and reads whatever comes of it. */
    tryNow() {
      position = undefined
      requestRead()
      connect()
    },
    /** Until the returned function is called, a hidden page keeps the stream too. */
    keepOpen(): () => void {
      const keeper = {}
      keepers.add(keeper)
      return () => void keepers.delete(keeper)
    },
    isKeptOpen: () => keepers.size > 0,
    state: () => state,
    /** Of the last stream; undefined while Argo CD answers. */
    argoCd: () => (argoCd?.available === false ? argoCd : undefined),
    /** Who listens to the lock hears at once what is known of it. Returns how to stop. */
    on<Name extends keyof Listeners>(name: Name, listener: Listeners[Name]): () => void {
      const all: Set<Listeners[Name]> = listeners[name]
      all.add(listener)
      if (name === 'lock' && lock !== undefined) (listener as Listeners['lock'])(lock)
      return () => void all.delete(listener)
    },
  }
}
