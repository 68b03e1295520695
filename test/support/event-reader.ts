import { DeployLockDetails } from '../../contract/deploy-lock.ts'
import { ServiceState } from '../../contract/health.ts'
import { TaskEvent } from '../../contract/task-event.ts'

export type EventReader = {
  /** What came so far, in the order in which it came. */
  readonly events: readonly TaskEvent[]
  /** Positions to which the service reset this reader. */
  readonly resets: readonly number[]
  /** The states that it was told, in their order. */
  readonly locks: readonly DeployLockDetails[]
  readonly services: readonly ServiceState[]
  /** The last id that came, with an event or alone. */
  readonly position: () => number | undefined
  readonly status: number
  /** Resolves when the stream has ended, also by a broken connection. */
  readonly ended: Promise<void>
  close(): void
}

type ReadingOptions = { readonly lastEventId?: number | undefined; readonly headers?: Readonly<Record<string, string>> }

/** Reads `text/event-stream` as an EventSource does, but does not come back by itself. */
export async function readEvents(
  url: string,
  { lastEventId, headers = {} }: ReadingOptions = {},
): Promise<EventReader> {
  const closing = new AbortController()
  const answer = await fetch(url, {
    signal: closing.signal,
    headers: {
      ...headers,
      accept: 'text/event-stream',
      ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) }),
    },
  })
  const events: TaskEvent[] = []
  const resets: number[] = []
  const locks: DeployLockDetails[] = []
  const services: ServiceState[] = []
  let position: number | undefined
  const take = (message: string) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(message)?.[1]
    const data = field('data')
    const [id, kind] = [field('id'), field('event')]
    if (id !== undefined) position = Number(id)
    if (kind === 'reset') resets.push(Number(id))
    else if (kind === 'lock' && id === undefined) locks.push(DeployLockDetails.parse(JSON.parse(data ?? '')))
    else if (kind === 'service' && id === undefined) services.push(ServiceState.parse(JSON.parse(data ?? '')))
    else if (kind !== 'alive' && data !== undefined) events.push(TaskEvent.parse(JSON.parse(data)))
  }
  const read = async () => {
    let rest = ''
    for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const messages = (rest + chunk).split('\n\n')
      rest = messages.pop() ?? ''
      messages.forEach(take)
    }
  }
  const ended = read().catch(() => undefined)
  return {
    events,
    resets,
    locks,
    services,
    position: () => position,
    status: answer.status,
    ended,
    close: () => closing.abort(),
  }
}
