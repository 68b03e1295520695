import { parentPort } from 'node:worker_threads'
import type { ApplicationList } from '../../rollout/observed/delivery-controller.ts'
import type { LargeJson, LargeJsonPart } from './large-json-reader.ts'
import { parseAnswer } from './parse-answer.ts'
import { parseLine } from './stream-frames.ts'
import { parseJson } from './untrusted-json.ts'

/** Applications of one message, so that taking them over costs the main thread little at a time. */
const applicationsAtOnce = 50

let parts: Iterator<unknown, undefined> = [][Symbol.iterator]()

/** The thread for JSON whose parsing would keep the main one from everything else. Each message is answered by one part. */
parentPort?.on('message', (message: LargeJson | 'more') => {
  if (message !== 'more') parts = partsOf(message)
  const { value, done } = parts.next()
  const part: LargeJsonPart = done === true ? { isEnd: true } : { isEnd: false, value }
  parentPort?.postMessage(part)
})

function* partsOf(json: LargeJson): Generator<unknown, undefined> {
  const text = decode(json.bytes)
  if (json.kind === 'frame') yield text === undefined ? undefined : parseLine(text)
  else if (json.kind === 'list') yield* slicesOf(parseAnswer('list', parseJson(text ?? '')))
  else yield parseAnswer(json.kind, parseJson(text ?? ''))
}

function decode(bytes: readonly Uint8Array[]): string | undefined {
  try {
    return new TextDecoder().decode(Buffer.concat(bytes))
  } catch {
    return undefined // longer than a text can be
  }
}

function* slicesOf(list: ApplicationList | undefined): Generator<ApplicationList, undefined> {
  if (list === undefined) return
  const { version, applications } = list
  for (let at = 0; at === 0 || at < applications.length; at += applicationsAtOnce)
    yield { version, applications: applications.slice(at, at + applicationsAtOnce) }
}
