import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { z } from 'zod'
import type { Service } from '../support/service.ts'
import { readApiDocument } from './api-document.ts'
import { judgeAnswer } from './judge-answer.ts'
import { type RawAnswer, sendRaw } from './raw-client.ts'
import { type Credentials, type RequestCase, requestCase } from './request-case.ts'
import { renderRequest } from './request-draft.ts'

export type FuzzReport = {
  readonly seed: number
  readonly sent: number
  /** How many different kinds of requests were sent: operations with their faults. */
  readonly kinds: number
  /** How many answers took longer than 2 s; the same request did not when it was sent again. */
  readonly late: number
  /** How often each status answered. */
  readonly statuses: ReadonlyMap<number, number>
  readonly slowestMs: number
}

const atOnce = 16
const lateMs = 2_000
const giveUpMs = 15_000
const batches = 100
const Accepted = z.object({ id: z.string(), status: z.literal('accepted') })

/**
 * Sends that many requests, made from the service's own description of its API, and judges every answer.
 * @throws with the seed and the smallest failing batch, as soon as an answer is not as it should be
 */
export async function fuzzService(
  service: Pick<Service, 'url' | 'request'>,
  credentials: Credentials,
  { cases, seed }: { cases: number; seed: number },
): Promise<FuzzReport> {
  const operations = readApiDocument((await service.request('/swagger/index.html/json')).body)
  const port = Number(new URL(service.url).port)
  const found = createFindings()

  /** A request that is answered late is sent again: a machine that pauses is not a slow service. */
  const complaintsOf = async (one: RequestCase, triesLeft = 2): Promise<string[]> => {
    const request = renderRequest(one.draft, found.taskAt(one.idPick) ?? randomUUID())
    const answer = await sendRaw(port, request, { isHead: one.draft.method === 'HEAD', limitMs: giveUpMs })
    found.note(one, answer)
    const isLate = answer.ms > lateMs
    const complaints = judgeAnswer(one, answer)
    if (isLate && complaints.length === 0 && triesLeft > 0) return complaintsOf(one, triesLeft - 1)
    const exchange = `${request.toString('latin1', 0, 500)}\n=> ${answer.status} ${answer.body.slice(0, 500)}`
    return [...complaints, ...(isLate ? [`took ${Math.round(answer.ms)} ms`] : [])].map(
      (complaint) => `${complaint}: ${one.what.join(', ')}\n${exchange}`,
    )
  }
  const batch = fc.array(requestCase(operations, credentials), { minLength: 1, maxLength: atOnce, size: 'max' })
  const property = fc.asyncProperty(batch, async (requests) => {
    const complaints = (await Promise.all(requests.map((one) => complaintsOf(one)))).flat()
    if (complaints.length > 0) throw new Error(complaints.join('\n\n'))
  })
  for (let round = seed; found.sent() < cases; round++) {
    const { failed, errorInstance } = await fc.check(property, { seed: round, numRuns: batches })
    if (failed) throw new Error(`found with --seed ${round}: ${String(errorInstance)}`, { cause: errorInstance })
  }
  return { seed, ...found.report() }
}

/** What the answers showed so far; tasks that were accepted can be asked for by later requests. */
function createFindings() {
  const tasks: string[] = []
  const kinds = new Set<string>()
  const statuses = new Map<number, number>()
  let slowestMs = 0
  let late = 0
  const sent = () => [...statuses.values()].reduce((sum, count) => sum + count, 0)
  return {
    sent,
    /** The newest is 0. */
    taskAt: (index: number) => tasks.at(-1 - index),
    note({ operation, what }: RequestCase, { status, body, ms }: RawAnswer) {
      kinds.add([operation.method, operation.path, ...what].join(' '))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      slowestMs = Math.max(slowestMs, ms)
      if (ms > lateMs) late += 1
      if (status === 202) tasks.push(Accepted.parse(JSON.parse(body)).id)
    },
    report: () => ({ sent: sent(), kinds: kinds.size, statuses, slowestMs, late }),
  }
}
