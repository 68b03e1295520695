import type { PodLog } from '../../../contract/task.ts'
import { failedContainerOf } from '../judge/report/accuse.ts'
import type { ApplicationAddress, ReadOutcome } from '../observed/delivery-controller.ts'
import type { ObservedPod } from '../observed/observed-resources.ts'

export type LogRequest = {
  readonly pod: Pick<ObservedPod, 'namespace' | 'name'>
  /** Needed where the Pod has several. */
  readonly container: string | undefined
  /** Of the run before the present one. */
  readonly isPrevious: boolean
  readonly lines: number
}

type Dependencies = {
  readonly readLog: (address: ApplicationAddress, request: LogRequest) => Promise<ReadOutcome<readonly string[]>>
  /** How many of the last lines of each container. */
  readonly lines: number
  /** Hides the secrets that this service knows. */
  readonly redact: (text: string) => string
}

const maxLineLength = 300
const maxContainers = 3

/**
 * Reads what a Pod that does not start wrote last: each line redacted and at most 300 characters long. `undefined` where it
 * wrote nothing, has not run yet, or its log may not or cannot be read; nothing depends on it.
 */
export function createReadPodLog({ readLog, lines, redact }: Dependencies) {
  const tail = async (address: ApplicationAddress, pod: ObservedPod, container: string | undefined) => {
    const request = { pod, container, lines }
    // The run that ended says why; the one that waits for its turn has nothing to say.
    const previous = isCrashing(pod) ? await readLog(address, { ...request, isPrevious: true }) : nothingRead
    const hasSaid = linesOf(previous).length > 0 || choicesIn(previous).length > 0
    return hasSaid ? previous : readLog(address, { ...request, isPrevious: false })
  }

  const tailOfSeveral = async (address: ApplicationAddress, pod: ObservedPod, containers: readonly string[]) => {
    const tails = containers.slice(0, maxContainers).map(async (container) => {
      const said = linesOf(await tail(address, pod, container))
      return said.map((line) => `${container}: ${line}`)
    })
    return (await Promise.all(tails)).flat()
  }

  return async (address: ApplicationAddress, pod: ObservedPod): Promise<PodLog | undefined> => {
    if (!isCrashing(pod) && pod.reason !== 'Running') return undefined
    const outcome = await tail(address, pod, failedContainerOf(pod))
    const choices = choicesIn(outcome)
    const said = choices.length > 0 ? await tailOfSeveral(address, pod, choices) : linesOf(outcome)
    // Cut only after secrets were taken out, or half of one would be left.
    const shown = said.map((line) => redact(line).slice(0, maxLineLength).toWellFormed())
    return shown.length === 0 ? undefined : { pod: pod.name, lines: shown }
  }
}

type Tail = ReadOutcome<readonly string[]>

const nothingRead: Tail = { kind: 'read', value: [] }

const linesOf = (outcome: Tail) => (outcome.kind === 'read' ? outcome.value : [])

const isCrashing = ({ reason }: ObservedPod) => /^(Init:)?CrashLoopBackOff$/.test(reason ?? '')

/** Kubernetes' words where a Pod has several containers: "…, choose one of: [app proxy] or one of the init containers: […]". */
function choicesIn(outcome: Tail): readonly string[] {
  const choices = outcome.kind === 'unreachable' ? /choose one of: \[([a-z0-9 -]+)\]/.exec(outcome.why)?.[1] : undefined
  return choices?.split(' ') ?? []
}
