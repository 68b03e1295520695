import type { ReadOutcome } from '../rollout/watch/delivery-controller.ts'
import { objectAt, parseJson, textAt } from './untrusted-json.ts'

/** Reads an answer of `logs`: an object a line. A failure after the first line comes as the last of them, with status 200. */
export function parsePodLog(body: string): ReadOutcome<readonly string[]> {
  const frames = body.split('\n').filter((line) => line.trim() !== '')
  const parsed = frames.map((frame) => parseJson(frame))
  const failure = parsed.map((frame) => textAt(objectAt(frame, 'error'), 'message')).find((why) => why !== undefined)
  const lines = parsed.flatMap((frame) => textAt(objectAt(frame, 'result'), 'content') ?? [])
  return failure === undefined || lines.length > 0
    ? { kind: 'read', value: lines }
    : { kind: 'unreachable', why: failure }
}
