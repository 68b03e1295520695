import { Worker } from 'node:worker_threads'
import type { ApplicationList } from '../../rollout/observed/delivery-controller.ts'
import type { AnswerKind, AnswerValues } from './parse-answer.ts'
import type { StreamFrame } from './stream-frames.ts'

/** What the thread is asked: to read these bytes as this kind of answer, or as one line of the stream. */
export type LargeJson = { readonly kind: AnswerKind | 'frame'; readonly bytes: readonly Uint8Array[] }
export type LargeJsonPart = { readonly isEnd: true } | { readonly isEnd: false; readonly value: unknown }

type Job = { readonly json: LargeJson; readonly values: unknown[]; done(values: readonly unknown[]): void }

const maxHeapMb = 2_048

/** Parses large JSON off the main thread, one after the other. What cannot be parsed, or is too much for the thread, is `undefined`. */
export function createLargeJsonReader() {
  const jobs: Job[] = []
  let worker: Worker | undefined
  let isClosed = false

  const start = (): Worker => {
    const started = new Worker(new URL('./large-json-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    })
    started.unref()
    started.on('message', take)
    started.on('error', () => {}) // `exit` follows
    started.on('exit', () => {
      if (worker === started) worker = undefined
      endJob([])
    })
    return started
  }
  const next = () => {
    const [job] = jobs
    if (job === undefined || isClosed) return
    worker ??= start()
    worker.postMessage(job.json)
  }
  const take = (part: LargeJsonPart) => {
    if (part.isEnd) return endJob(jobs[0]?.values ?? [])
    jobs[0]?.values.push(part.value)
    setImmediate(() => worker?.postMessage('more')) // everything else has its turn between two parts
  }
  const endJob = (values: readonly unknown[]) => {
    jobs.shift()?.done(values)
    next()
  }
  const ask = (json: LargeJson) =>
    new Promise<readonly unknown[]>((done) => {
      if (isClosed) return done([])
      jobs.push({ json, values: [], done })
      if (jobs.length === 1) next()
    })

  return {
    async parseAnswer<Kind extends AnswerKind>(
      kind: Kind,
      bytes: readonly Uint8Array[],
    ): Promise<AnswerValues[Kind] | undefined> {
      const values = await ask({ kind, bytes })
      // The thread answers with what `parseAnswer` made of this kind, a List in slices.
      return (kind === 'list' ? joined(values as readonly ApplicationList[]) : values[0]) as
        | AnswerValues[Kind]
        | undefined
    },
    async parseFrame(line: Uint8Array): Promise<StreamFrame> {
      const [frame] = await ask({ kind: 'frame', bytes: [line] })
      // The thread answers with what `parseLine` made of it.
      return (frame as StreamFrame | undefined) ?? { kind: 'unreadable' }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      await worker?.terminate()
      for (const job of jobs.splice(0)) job.done([])
    },
  }
}

function joined(slices: readonly ApplicationList[]): ApplicationList | undefined {
  const [first] = slices
  return first && { version: first.version, applications: slices.flatMap(({ applications }) => applications) }
}
