import { createHash } from 'node:crypto'
import { z } from 'zod'
import { gateTimes } from '../../../contract/gates/gate-times.ts'
import { gatesOf } from '../../../contract/gates/gates.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { type FinalStatus, isFinal } from '../../../contract/task-status.ts'
import { jsonOf, type Post } from '../../http/outgoing/post.ts'
import { type Attempt, attemptOf, type LockMessage, type Message, type TaskTrace } from './attempt.ts'

type Destination = {
  readonly url: string
  readonly authorization: string | undefined
  readonly allowsPrivate: boolean
}

const PartialSuccess = z.object({
  partialSuccess: z.object({ rejectedSpans: z.coerce.number(), errorMessage: z.string().optional() }),
})

/** Sends the trace of a task that has ended, as OTLP/HTTP with JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
export async function sendTrace(
  post: Post,
  { url, authorization, allowsPrivate }: Destination,
  message: Message | LockMessage,
): Promise<Attempt> {
  if (message.event === 'lock_changed' || !isFinal(message.task.status)) return { kind: 'skipped' }
  const spans = spansOf(message.task, message.task.status, await message.readTrace(), message.pageUrl)
  const body = JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf({ 'service.name': 'deployment-watcher' }) },
        scopeSpans: [{ scope: { name: 'deployment-watcher' }, spans }],
      },
    ],
  })
  const headers = { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) }
  const posted = await post(url, { headers, body, allowsPrivate })
  const attempt = attemptOf(posted)
  if (attempt.kind !== 'sent' || posted.kind !== 'answered') return attempt
  const partial = PartialSuccess.safeParse(jsonOf(posted.text)).data?.partialSuccess
  if (partial === undefined || partial.rejectedSpans === 0) return attempt
  return { kind: 'dead', error: `the receiver rejected ${partial.rejectedSpans} of ${spans.length} spans` }
}

type Span = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  /** Steps of the timeline. */
  readonly events?: readonly {
    readonly timeUnixNano: string
    readonly name: string
    readonly attributes: readonly Attribute[]
  }[]
  readonly status: { readonly code?: number; readonly message?: string }
}

/** As many as SDKs keep of a span. */
const maxEvents = 128
const [internal, statusOk, statusError] = [1, 1, 2]

const results: Readonly<Record<FinalStatus, string>> = {
  deployed: 'success',
  failed: 'failure',
  'app not found': 'failure',
  aborted: 'error',
  cancelled: 'cancellation',
}

/** One span for the task, and one for each gate that it came to. Their ids are the same for each attempt. */
function spansOf(
  task: TaskRecord,
  status: FinalStatus,
  { traceparent, events }: TaskTrace,
  pageUrl: string,
): readonly Span[] {
  const [, traceId = task.id.replaceAll('-', ''), parentSpanId] = traceparent?.split('-') ?? []
  const { id, app, environment, source, created, updated } = task
  const isError = status !== 'deployed' && status !== 'cancelled'
  const failure = isError ? { 'error.type': task.cause ?? '_OTHER' } : {}
  const errorStatus = { code: statusError, ...(task.headline !== undefined && { message: task.headline }) }
  const spanId = spanIdOf(id)
  const root: Span = {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: `deploy ${app}`,
    kind: internal,
    startTimeUnixNano: nanosecondsOf(created),
    endTimeUnixNano: nanosecondsOf(updated),
    attributes: attributesOf({
      'cicd.pipeline.task.name': app,
      'cicd.pipeline.task.type': 'deploy',
      'cicd.pipeline.task.run.id': id,
      'cicd.pipeline.task.run.result': task.cause === 'timeout' ? 'timeout' : results[status],
      'cicd.pipeline.task.run.url.full': pageUrl,
      'deployment.environment.name': environment,
      'vcs.repository.url.full': source?.repository,
      'vcs.ref.head.revision': source?.sha,
      ...failure,
    }),
    events: events.slice(0, maxEvents).map(({ at, kind, detail }) => ({
      timeUnixNano: nanosecondsOf(at),
      name: kind,
      attributes: attributesOf({ detail }),
    })),
    status: isError ? errorStatus : status === 'deployed' ? { code: statusOk } : {},
  }
  const gates = gatesOf(task)
  let from = created
  const children = gateTimes(task, gates, events).flatMap(({ at }, index): Span[] => {
    const gate = gates[index]
    const isStopped = gate?.state === 'stop'
    const to = isStopped ? updated : at
    if (gate === undefined || to === undefined) return []
    const start = from
    from = to
    return [
      {
        traceId,
        spanId: spanIdOf(`${id} ${gate.name}`),
        parentSpanId: spanId,
        name: gate.name,
        kind: internal,
        startTimeUnixNano: nanosecondsOf(start),
        endTimeUnixNano: nanosecondsOf(to),
        attributes: attributesOf(isStopped ? failure : {}),
        status: isStopped && isError ? errorStatus : {},
      },
    ]
  })
  return [root, ...children]
}

const spanIdOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** The database has microseconds. */
const nanosecondsOf = (seconds: number): string => `${Math.round(seconds * 1_000_000)}000`

type Attribute = { readonly key: string; readonly value: { readonly stringValue: string } }

/** Those that are known. */
const attributesOf = (values: Readonly<Record<string, string | undefined>>): readonly Attribute[] =>
  Object.entries(values).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [{ key, value: { stringValue: value } }],
  )
