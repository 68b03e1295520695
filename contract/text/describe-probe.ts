import type { Culprit } from '../diagnosis.ts'
import { plainWords, withoutUrls } from './plain-words.ts'

type Probe = NonNullable<Culprit['probe']>

/** What the kubelet says, such as `Readiness probe failed: HTTP probe failed with statuscode: 503`. */
const failed = /^(readiness|liveness|startup) probe (?:failed|errored)[^:]*:? ?(.*)$/i

/** The probe that a message names. */
export const probeOf = (message: string): Probe | undefined =>
  failed.exec(plainWords(message))?.[1]?.toLowerCase() as Probe | undefined

/** `readiness probe returns 503`, `liveness probe times out`. */
export function describeProbe(probe: Probe, message: string): string {
  const output = failed.exec(plainWords(message))?.[2]
  if (output === undefined) return probe === 'readiness' ? 'readiness probe has not succeeded' : `${probe} probe fails`
  const status = /statuscode: (\d+)/.exec(output)?.[1]
  if (status !== undefined)
    return probe === 'readiness' ? `readiness probe returns ${status}` : `${probe} probe fails (${status})`
  if (/deadline exceeded|timed out|timeout/i.test(withoutUrls(output))) return `${probe} probe times out`
  const network = /connection refused|connection reset by peer|no such host|no route to host|\bEOF$/.exec(output)?.[0]
  if (network !== undefined) return `${probe} probe fails (${network})`
  const words = output.replace(/^Get "[^"]*": (?:http: )?/, '')
  return words === '' ? `${probe} probe fails` : `${probe} probe fails: ${words}`
}
