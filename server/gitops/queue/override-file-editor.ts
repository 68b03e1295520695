import { Worker } from 'node:worker_threads'
import type { OverrideEntry, SourceTool } from '../plan/application-source.ts'
import type { OverrideMerge } from '../plan/merge-override-file.ts'
import type { EntriesRead } from '../plan/parse-override-file.ts'

type MergeRequest = {
  readonly text: string | undefined
  readonly own: readonly { readonly name: string; readonly value: string }[]
  readonly inherited: readonly OverrideEntry[]
  readonly tool: SourceTool
}

type ReadRequest = { readonly text: string; readonly tool: SourceTool }

/** What the thread is asked. */
export type OverrideFileRequest =
  | ({ readonly kind: 'merge' } & MergeRequest)
  | ({ readonly kind: 'entries' } & ReadRequest)

type Unanswered =
  /** The file takes more than one file may. */
  | { readonly kind: 'exhausted'; readonly reason: string }
  /** `isWanted` said no before its turn came. */
  | { readonly kind: 'postponed' }

export type OverrideFileEditor = {
  merge(request: MergeRequest, isWanted: () => boolean): Promise<OverrideMerge | Unanswered>
  readEntries(request: ReadRequest, isWanted: () => boolean): Promise<EntriesRead | Unanswered>
}

type Job = {
  readonly request: OverrideFileRequest
  readonly isWanted: () => boolean
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Of processor time: on a busy machine a harmless file may take longer by the clock. */
const maxEditMs = 2_000
/** Far more than a file of the allowed size and number of entries needs. */
const maxHeapMb = 512

const tooSlow: Unanswered = {
  kind: 'exhausted',
  reason: `takes more than ${maxEditMs / 1_000}s to edit: make it smaller`,
}
const tooMuch: Unanswered = { kind: 'exhausted', reason: `takes more than ${maxHeapMb} MiB to edit: make it smaller` }
const postponed: Unanswered = { kind: 'postponed' }

/**
 * Reads and merges override files in a thread of its own, so that a large or hostile one holds up neither the process nor
 * the small ones: the smallest is next, and a thread that exceeds its limits is replaced.
 */
export function createOverrideFileEditor() {
  const waiting: Job[] = []
  let current: Job | undefined
  let thread: Worker | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function start(): Worker {
    // an empty environment: the parser looks at a variable for each token, and none is meant for this thread
    const started = new Worker(new URL('./override-file-worker.ts', import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    })
    started.unref()
    started.on('message', (answer: unknown) => end(started, (job) => job.resolve(answer)))
    started.on('error', (error: NodeJS.ErrnoException) => {
      if (thread !== started) return
      thread = undefined
      end(undefined, (job) => (error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? job.resolve(tooMuch) : job.reject(error)))
    })
    return started
  }

  function next(): void {
    if (current !== undefined || isClosed) return
    current = nextWanted()
    if (current === undefined) return
    thread ??= start()
    limit(thread, current, processorMs(thread), maxEditMs)
    thread.postMessage(current.request)
  }

  function nextWanted(): Job | undefined {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      if (job.isWanted()) return job
      job.resolve(postponed)
    }
    return undefined
  }

  function end(by: Worker | undefined, settle: (job: Job) => void): void {
    if (by !== thread || current === undefined) return
    const job = current
    current = undefined
    clearTimeout(timer)
    settle(job)
    queueMicrotask(next) // whoever asked has taken note by then
  }

  function limit(used: Worker, job: Job, usedBefore: Promise<number>, afterMs: number): void {
    const check = async () => {
      const leftMs = maxEditMs - ((await processorMs(used)) - (await usedBefore))
      if (current !== job) return
      if (leftMs > 0) return limit(used, job, usedBefore, leftMs)
      thread = undefined
      void used.terminate()
      end(undefined, () => job.resolve(tooSlow))
    }
    timer = setTimeout(check, afterMs)
  }

  const ask = (request: OverrideFileRequest, isWanted: () => boolean) =>
    new Promise<unknown>((resolve, reject) => {
      if (isClosed) return resolve(postponed)
      const larger = waiting.findIndex((job) => sizeOf(job.request) > sizeOf(request))
      waiting.splice(larger < 0 ? waiting.length : larger, 0, { request, isWanted, resolve, reject })
      queueMicrotask(next) // the smallest of those that come at once begins
    })

  return {
    // The thread answers each kind of request with what its function returns.
    merge: (request, isWanted) => ask({ kind: 'merge', ...request }, isWanted) as Promise<OverrideMerge | Unanswered>,
    readEntries: (request, isWanted) =>
      ask({ kind: 'entries', ...request }, isWanted) as Promise<EntriesRead | Unanswered>,
    async [Symbol.asyncDispose](): Promise<void> {
      isClosed = true
      clearTimeout(timer)
      await thread?.terminate()
      for (const job of [current, ...waiting.splice(0)]) job?.resolve(postponed)
    },
  } satisfies OverrideFileEditor & AsyncDisposable
}

const sizeOf = ({ text = '' }: OverrideFileRequest): number => text.length

/** 0 until the thread runs. */
const processorMs = (thread: Worker): Promise<number> =>
  thread.cpuUsage().then(
    ({ user, system }) => (user + system) / 1_000,
    () => 0,
  )
