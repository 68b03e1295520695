import type { TaskRecord } from '../../../contract/task.ts'
import { type NotificationEvent, notificationDetails } from '../../../contract/text/notification-text.ts'
import { webAddress } from './plain-text.ts'

/** `logs`: whether the target may be sent log lines of Pods. */
export type Shown = { readonly pageUrl: string; readonly logs: boolean }

/** A next step has no label: its text says whose it is. */
type Fact = { readonly label: '' | 'Cause' | 'Old version' | 'Change'; readonly text: string }
export type Link = { readonly title: string; readonly url: string }

export type Facts = {
  /** In the order of their importance. */
  readonly facts: readonly Fact[]
  readonly nextStep: string | undefined
  readonly links: readonly Link[]
  readonly log: { readonly pod: string; readonly lines: readonly string[] } | undefined
}

const maxLinks = 5

/** What every kind shows below the headline. Labels and titles are words of this service; texts may come from strangers. */
export function factsOf(event: NotificationEvent, task: TaskRecord, { pageUrl, logs }: Shown): Facts {
  const { change, culprit, oldVersion, nextSteps, links, podLog } = notificationDetails(event, task)
  const facts = [
    { label: 'Cause', text: culprit },
    ...nextSteps.map((text) => ({ label: '' as const, text })),
    { label: 'Old version', text: oldVersion },
    { label: 'Change', text: change },
  ] as const
  const titled = [{ title: 'Deployment', url: pageUrl }, ...links].flatMap(({ title, url }) => {
    const address = webAddress(url)
    return address === undefined ? [] : [{ title, url: address }]
  })
  return {
    facts: facts.flatMap(({ label, text }) => (text === undefined ? [] : [{ label, text }])),
    nextStep: nextSteps[0],
    links: titled.slice(0, maxLinks),
    log: logs && podLog !== undefined ? { pod: task.pod_log?.pod ?? '', lines: podLog } : undefined,
  }
}

export const labelled = ({ label, text }: Fact): string => (label === '' ? text : `${label}: ${text}`)
