import type { Cause } from '../../../contract/cause.ts'

export type Evidence = { readonly name: string; readonly value: string }

/** A status reason taken apart. Every part may be missing: the reason is text for people before anything else. */
export type Reason = {
  /** The first line, without the cause in brackets. */
  readonly first: string | undefined
  /** What was seen, the culprit before the chronicle. */
  readonly evidence: readonly Evidence[]
  readonly todo: string | undefined
  /** The letters of the gates that were closed at the end. */
  readonly closedGates: readonly string[]
}

/** Reads the lines of a reason: a headline, then `Name: value` lines, one of which may say what to do. */
export function parseReason(text: string | undefined, cause: Cause | undefined): Reason {
  const lines = (text ?? '')
    .split('\n')
    .map((line) => withoutCause(line, cause).trim())
    .filter((line) => line !== '')
  const [first, ...rest] = lines
  const seen = rest
    .filter((line) => !backOffEvent.test(line))
    .filter(isTelling)
    .map(readEvidence)
  return {
    first,
    evidence: seen.filter(({ name }) => name !== todoName).toSorted((a, b) => rank(a) - rank(b)),
    todo: seen.find(({ name }) => name === todoName)?.value,
    closedGates: rest.flatMap((line) => /^Waited for \(gate ([A-Z])\)/.exec(line)?.[1] ?? []),
  }
}

const todoName = 'What to do'

/** Names whose lines point at who broke it. */
const culpritNames = /^(Unhealthy|Not synced|Operation|Container|Message|[A-Za-z]+ hook failed|[A-Za-z]+Error)$/

const eventLine = /^Event of (\S+): +(\S.*)$/

/** Says what the line of its Pod says. */
const backOffEvent = /^Event of \S+: +BackOff:/

/** The events of a Pod stand one after another, and the last of them tells where it stands. */
function isTelling(line: string, at: number, lines: readonly string[]): boolean {
  const pod = eventLine.exec(line)?.[1]
  return pod === undefined || eventLine.exec(lines[at + 1] ?? '')?.[1] !== pod
}

function rank({ name, value }: Evidence): number {
  if (name === 'Pod' || name === 'Last event') return 0
  const isWell = name === 'Operation' && value.startsWith('Succeeded')
  return culpritNames.test(name) && !isWell ? 1 : 2
}

function readEvidence(line: string): Evidence {
  const pod = /^Pod (\S.*)$/.exec(line)?.[1]
  if (pod !== undefined) return { name: 'Pod', value: pod }
  const event = eventLine.exec(line)?.[2]
  if (event !== undefined) return { name: 'Last event', value: event }
  const [, name, value] = /^([A-Z][\w -]{0,28})(?: \(gate [A-Z]\))?: +(\S.*)$/.exec(line) ?? []
  return name === undefined || value === undefined ? { name: 'Seen', value: line } : { name, value }
}

function withoutCause(line: string, cause: Cause | undefined): string {
  const mark = ` [${cause}]`
  return cause !== undefined && line.endsWith(mark) ? line.slice(0, -mark.length) : line
}
