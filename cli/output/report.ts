import { exitCodes } from '../../contract/exit-codes.ts'
import { oneLine } from '../../contract/fields.ts'
import type { TaskRecord } from '../../contract/task.ts'
import {
  boundedLine,
  renderBlame,
  renderImpact,
  renderRole,
  renderSentence,
} from '../../contract/text/render-diagnosis.ts'
import { exitOfStatus } from '../exit.ts'
import type { GivenUp, Outcome, Rejection } from '../follow/outcome.ts'
import { spanOf, timeOf, titleOf } from './words.ts'

const maxSteps = 3
const maxLogLines = 5
const maxLinks = 3

/** What is said of a deployment at the end: its lines, and for an annotation what and why. */
export type Report = { readonly exitCode: number; readonly title: string; readonly lines: readonly string[] }

/** At most 15 lines, the culprit first; none for a deployment that worked, whose progress says so. */
export function reportOf(outcome: Outcome, urlOf: (id: string) => string): Report {
  switch (outcome.kind) {
    case 'ended':
      return ofTask(outcome.task, urlOf)
    case 'rejected':
      return { exitCode: outcome.exitCode, title: titleOfRejection(outcome), lines: ofRejection(outcome) }
    case 'submitted':
      return { exitCode: exitCodes.deployed, title: '', lines: [] }
    case 'interrupted':
      return { exitCode: exitCodes.interrupted, title: '', lines: [] }
    case 'gave_up':
      return { exitCode: exitCodes.gave_up, title: 'no verdict', lines: ofUnknown(outcome, urlOf) }
  }
}

function ofTask(task: TaskRecord, urlOf: (id: string) => string): Report {
  const { id, status, cause, diagnosis, updated, created, similar_apps: similar = [], pod_log: log } = task
  if (status === 'deployed') return { exitCode: exitCodes.deployed, title: '', lines: [] }
  const [first = status] = (task.status_reason ?? task.headline ?? status).split('\n')
  const sentence = diagnosis === undefined ? first : renderSentence(status, diagnosis, updated)
  const steps = diagnosis?.next_steps ?? []
  const lines = [
    `${titleOf(task)} ${status} after ${spanOf(updated - created)}: ${sentence}`,
    diagnosis === undefined ? '' : renderBlame(diagnosis),
    labelled('Impact: ', renderImpact(diagnosis?.impact, cause)),
    labelled('Similar names: ', similar.join(', ')),
    ...steps.slice(0, maxSteps).map(({ actor, text }) => `Next step (${renderRole(actor)}): ${text}`),
    ...(log === undefined ? [] : [`Log of Pod ${log.pod}:`, ...log.lines.slice(-maxLogLines).map(quoted)]),
    task.rolled_back_by === undefined ? '' : `Rolled back by: ${urlOf(task.rolled_back_by)}`,
    `Details: ${urlOf(id)}`,
    ...(diagnosis?.links ?? []).slice(0, maxLinks).map(({ kind, url }) => `Link (${kind}): ${url}`),
  ]
  const title = oneLine(cause ?? status)
  return { exitCode: exitOfStatus(status), title, lines: lines.filter((line) => line !== '').map(boundedLine) }
}

const labelled = (label: string, text: string) => (text === '' ? '' : label + text)

/** A line of somebody else's program. */
const quoted = (line: string) => `| ${oneLine(line)}`

function titleOfRejection({ exitCode }: Rejection): string {
  if (exitCode === exitCodes.locked) return 'locked'
  if (exitCode === exitCodes.not_authorized) return 'not authorized'
  return exitCode === exitCodes.unreachable ? 'unreachable' : 'rejected'
}

function ofRejection({ app, id, error, advice, lock }: Rejection): readonly string[] {
  const name = oneLine(app)
  if (lock !== undefined) {
    const until = lock.until === undefined ? '' : ` until ${timeOf(lock.until)}`
    const by = lock.setBy === undefined ? '' : ` by ${lock.setBy}`
    const why = lock.reason === undefined ? '' : `: ${lock.reason}`
    return [boundedLine(`${name} not deployed: deployments are locked${until}${by}${why}`)]
  }
  const first = `${name} ${id === undefined ? 'not deployed' : 'cannot be followed'}: ${error}`
  return [first, ...(advice === undefined ? [] : [advice])].map(boundedLine)
}

function ofUnknown({ id, task, why, isGone }: GivenUp, urlOf: (id: string) => string): readonly string[] {
  const first = boundedLine(`${task === undefined ? `task ${id}` : titleOf(task)} has no verdict: ${why}`)
  if (isGone) return [first]
  return [first, `The deployment goes on: ${urlOf(id)}`, `Follow it with: deployment-watcher wait ${oneLine(id)}`]
}
