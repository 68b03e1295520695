import type { LockChange } from '../../../contract/notify/lock-change.ts'
import type { TaskRecord } from '../../../contract/task.ts'
import { lockHeadline } from '../../../contract/text/lock-text.ts'
import {
  type NotificationEvent,
  notificationDetails,
  notificationHeadline,
} from '../../../contract/text/notification-text.ts'
import { webAddress } from './plain-text.ts'

/** `logs`: whether the target may be sent log lines of Pods. */
export type Shown = { readonly pageUrl: string; readonly logs: boolean }

/** A next step has no label: its text says whose it is. */
type Fact = { readonly label: '' | 'Cause' | 'Old version' | 'Change'; readonly text: string }
export type Link = { readonly title: string; readonly url: string }

/** What every kind of message says. Labels and titles are words of this service; texts may come from strangers. */
export type Notice = {
  readonly headline: string
  /** Which colour it has. */
  readonly tone: 'running' | 'good' | 'bad' | 'warning' | 'neutral'
  /** Who may be mentioned. */
  readonly author: string | undefined
  /** In the order of their importance. */
  readonly facts: readonly Fact[]
  readonly nextStep: string | undefined
  readonly links: readonly Link[]
  readonly log: { readonly pod: string; readonly lines: readonly string[] } | undefined
}

const maxLinks = 5

const tones: Readonly<Record<NotificationEvent, Notice['tone']>> = {
  started: 'running',
  succeeded: 'good',
  recovered: 'good',
  failed: 'bad',
  aborted: 'warning',
  cancelled: 'neutral',
}

export function noticeOf(event: NotificationEvent, task: TaskRecord, { pageUrl, logs }: Shown): Notice {
  const { change, culprit, oldVersion, nextSteps, links, podLog } = notificationDetails(event, task)
  const facts = [
    { label: 'Cause', text: culprit },
    ...nextSteps.map((text) => ({ label: '' as const, text })),
    { label: 'Old version', text: oldVersion },
    { label: 'Change', text: change },
  ] as const
  return {
    headline: notificationHeadline(event, task),
    tone: tones[event],
    author: task.author,
    facts: facts.flatMap(({ label, text }) => (text === undefined ? [] : [{ label, text }])),
    nextStep: nextSteps[0],
    links: linksTo([{ title: 'Deployment', url: pageUrl }, ...links]),
    log: logs && podLog !== undefined ? { pod: task.pod_log?.pod ?? '', lines: podLog } : undefined,
  }
}

/** `pageUrl`: of the overview, which shows the lock. */
export const noticeOfLock = (lock: LockChange, pageUrl: string): Notice => ({
  headline: lockHeadline(lock),
  tone: lock.active ? 'warning' : 'good',
  author: undefined,
  facts: [],
  nextStep: undefined,
  links: linksTo([{ title: 'Deployment Watcher', url: pageUrl }]),
  log: undefined,
})

const linksTo = (links: readonly Link[]): readonly Link[] =>
  links
    .flatMap(({ title, url }) => {
      const address = webAddress(url)
      return address === undefined ? [] : [{ title, url: address }]
    })
    .slice(0, maxLinks)

export const labelled = ({ label, text }: Fact): string => (label === '' ? text : `${label}: ${text}`)
