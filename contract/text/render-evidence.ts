import type { Evidence } from '../diagnosis.ts'

/** `said`: what the first line says already. */
export function renderEvidence(one: Evidence, atSeconds: number, said = ''): readonly string[] {
  switch (one.kind) {
    case 'note':
    case 'not_committed':
      return [unsaid(one.text, said)]
    case 'deadline':
      return [`Timed out after ${seconds(one.after)}`]
    case 'unreachable':
      return [unsaid(`Argo CD was unreachable for the last ${seconds(atSeconds - one.since)}: ${one.message}`, said)]
    case 'commit_pending':
      return ['The commit had not reached the Git host']
    case 'app_condition':
      return [unsaid(`${one.type}: ${one.message}`, said)].filter((text) => text !== one.type)
    case 'operation':
      return [join(': ', ['Operation', unsaid(operationText(one), said)])].filter((text) => text !== 'Operation')
    case 'resource':
      return [unsaid(join(': ', [one.resource, one.problem, one.message]), said)]
    case 'pod':
      return [
        unsaid(join(': ', [`Pod ${one.name} (${one.images.join(', ')})`, one.state, one.message]), said),
        ...one.events
          .filter((event) => !said.endsWith(event.slice(event.indexOf(': ') + 2)))
          .map((event) => `Event of ${one.name}: ${unsaid(event, said)}`),
      ]
    case 'out_of_sync':
      return [`Out of sync: ${one.resources.join(', ')}${one.more === undefined ? '' : ` and ${one.more} more`}`]
    case 'images':
      return [
        `Images requested: ${one.requested.join(', ')}`,
        `Images in Pods: ${one.found.join(', ') || 'none'}`,
        ...(one.applied.length === 0 ? [] : [`Images applied last: ${one.applied.join(', ')}`]),
      ]
    case 'revision': {
      const ours = one.commit === undefined ? '' : `; commit of the task: ${one.commit}`
      return [
        `Revision compared: ${one.compared.join(', ') || 'none'}; applied last: ${one.applied.join(', ') || 'none'}${ours}`,
      ]
    }
    case 'status':
      return [`Status: ${one.sync}, ${one.health}; ${one.automated_sync}`]
    default:
      return [] // of a newer service
  }
}

export const operationText = ({ phase, message }: { phase: string; message: string }) => join(': ', [phase, message])

/** A message as short as a word may stand in any text. */
const minRepeatedLength = 20

/** A text without the message that decided, which the first line says. */
export function unsaid(text: string, said: string): string {
  if (said === '' || !text.includes(said)) return text
  if (!text.endsWith(said)) return said.length < minRepeatedLength ? text : text.replace(said, '…')
  const label = text.slice(0, -said.length)
  return label.endsWith(': ') ? label.slice(0, -2) : label
}

export const seconds = (length: number) => `${Math.max(0, Math.round(length))}s`

export const join = (between: string, parts: readonly (string | undefined)[]) =>
  parts.filter((part) => part !== undefined && part !== '').join(between)
