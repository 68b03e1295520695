import type { Readings } from '../../server/rollout/judge/input/rollout-observation.ts'
import type { ResourceEvent } from '../../server/rollout/observed/observed-resources.ts'

/** An event from a text such as `Failed: Error: ErrImagePull`. */
export function anEvent(text: string, fields: Partial<ResourceEvent> = {}): ResourceEvent {
  const [reason = '', ...message] = text.split(': ')
  return { reason, message: message.join(': '), count: 1, lastMs: undefined, container: undefined, ...fields }
}

export const eventsOf = (
  uid: string,
  events: readonly (string | ResourceEvent)[],
  askedAtMs = 0,
): Readings<readonly ResourceEvent[]> => {
  const value = events.map((event) => (typeof event === 'string' ? anEvent(event) : event))
  return new Map([[uid, { askedAtMs, version: 10, value }]])
}
