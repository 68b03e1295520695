import type { Culprit } from '../diagnosis.ts'
import { describeVolume, parseVolumeFailure, unboundClaim } from './describe-volume-failure.ts'
import type { HeadlineParts } from './fit-headline.ts'
import { parseRejection } from './parse-rejection.ts'
import { plainWords } from './plain-words.ts'

/** A claim that is not bound, or a volume that a Pod waits for. */
export function volumeParts({ kind, name, message }: Culprit): HeadlineParts {
  if (kind === 'PersistentVolumeClaim') {
    const why = describeVolume(message)
    return { kind, name, does: 'is not bound', why: why === unboundClaim ? '' : why }
  }
  const { volume, does, why } = parseVolumeFailure(message)
  return volume === undefined ? { kind, does: 'waits for a volume', why } : { kind: 'Volume', name: volume, does, why }
}

/** A workload whose Pods the API server does not take. */
export function rejectionParts({ kind, name, message }: Culprit): HeadlineParts {
  const rejection = parseRejection(message)
  const [, by, why = ''] = /^(by [^:]+)(?:: (.*))?$/.exec(rejection?.words ?? '') ?? []
  if (by !== undefined) return { kind: `Pods of ${kind}`, name, does: `are rejected ${by}`, why }
  return { kind, name, does: 'cannot create Pods', why: rejection?.words ?? plainWords(message) }
}
