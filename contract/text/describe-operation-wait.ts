import type { Culprit } from '../diagnosis.ts'
import type { HeadlineParts } from './fit-headline.ts'
import { plainWords } from './plain-words.ts'

/** `waiting for completion of hook batch/Job/migrate and 1 more hooks`; the core group has an empty name. */
const waiting =
  /^waiting for (pruning confirmation|healthy state|completion|deletion)(?: of (hook )?\S*\/([^/\s]+)\/(\S+)( and \d+ more \w+)?)?/i

const until: Readonly<Record<string, string>> = {
  completion: 'to complete',
  deletion: 'to be deleted',
  'healthy state': 'to become healthy',
}

/** What a running operation waits for: `The sync waits for hook Job migrate to complete`. */
export function describeOperationWait({ kind, name, message }: Culprit): HeadlineParts {
  const text = plainWords(message)
  const [, what = '', hook = '', awaitedKind = '', awaitedName = '', more = ''] = waiting.exec(text) ?? []
  const awaited = { kind: `The sync waits for ${hook}${awaitedKind}`, name: awaitedName }
  if (what === '')
    return kind === 'Application'
      ? { does: 'The sync waits', why: text }
      : { kind: `The sync waits for ${kind}`, name, why: text }
  const toDo = until[what.toLowerCase()]
  if (toDo !== undefined) return { ...awaited, does: `${more} ${toDo}`.trim() }
  const does = 'The sync waits for pruning confirmation'
  return awaitedKind === '' ? { does } : { does, why: `${awaitedKind} ${awaitedName}${more}` }
}

export const isPruneConfirmation = (message: string): boolean =>
  /^waiting for pruning confirmation/i.test(plainWords(message))
