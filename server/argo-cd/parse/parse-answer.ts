import type { ApplicationList, ReadOutcome } from '../../rollout/observed/delivery-controller.ts'
import type { ObservedApplication } from '../../rollout/observed/observed-application.ts'
import type {
  LivePod,
  ManagedResources,
  ResourceEvent,
  ResourceTree,
  SyncWindows,
} from '../../rollout/observed/observed-resources.ts'
import { parseApplication } from './parse-application.ts'
import { parseLivePod } from './parse-live-pod.ts'
import { parseManagedResources } from './parse-managed-resources.ts'
import { parseResourceEvents } from './parse-resource-events.ts'
import { parseResourceTree } from './parse-resource-tree.ts'
import { parseSyncWindows } from './parse-sync-windows.ts'
import { isTrueAt, listAt, objectAt, parseJson, textAt } from './untrusted-json.ts'

/** What can be asked of the delivery controller, and what is kept of the answer. */
export type AnswerValues = {
  readonly application: ObservedApplication
  readonly list: ApplicationList
  readonly tree: ResourceTree
  readonly managed_resources: ManagedResources
  readonly sync_windows: SyncWindows
  readonly events: readonly ResourceEvent[]
  readonly live_pod: LivePod
  readonly version: string
  readonly session: { readonly isLoggedIn: boolean }
}
export type AnswerKind = keyof AnswerValues

/** `v3.5.1+0123abc` */
const maxVersionLength = 60

const parsers: { readonly [Kind in AnswerKind]: (body: unknown) => AnswerValues[Kind] | undefined } = {
  application: parseApplication,
  list: parseList,
  tree: (body) => (typeof body === 'object' && body !== null && 'nodes' in body ? parseResourceTree(body) : undefined),
  managed_resources: parseManagedResources,
  sync_windows: parseSyncWindows,
  events: parseResourceEvents,
  live_pod: parseLivePod,
  version: (body) => textAt(body, 'Version')?.slice(0, maxVersionLength),
  session: (body) => ({ isLoggedIn: isTrueAt(body, 'loggedIn') }),
}

/** Keeps what matters of an answer; `undefined` when it is of another kind. */
export function parseAnswer<Kind extends AnswerKind>(kind: Kind, body: unknown): AnswerValues[Kind] | undefined {
  return body === undefined ? undefined : parsers[kind](body)
}

function parseList(body: unknown): ApplicationList | undefined {
  const version = textAt(objectAt(body, 'metadata'), 'resourceVersion')
  if (version === undefined) return undefined
  const applications = listAt(body, 'items')
    .map(parseApplication)
    .filter((item) => item !== undefined)
  return { version: Number(version) || 0, applications }
}

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
