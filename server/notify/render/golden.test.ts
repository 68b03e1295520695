import { expect, test } from 'vitest'
import { exampleLocks, exampleNotifications, pageUrl } from './example-tasks.ts'
import { renderMattermost } from './mattermost.ts'
import { type Notice, noticeOf, noticeOfLock } from './notice.ts'
import { renderSlack } from './slack.ts'
import { renderTeams } from './teams.ts'

const shown = { pageUrl, logs: true }
/** A line for each block. */
const inLines = (blocks: readonly unknown[]) => blocks.map((block) => JSON.stringify(block)).join('\n')

test.for<[string, (notice: Notice) => string]>([
  [
    'slack',
    (notice) => {
      const { message, details } = renderSlack(notice)
      const { blocks, attachments, text } = message
      return `${inLines([{ text }, ...blocks, ...attachments])}\n--\n${inLines([{ text: details.text }, ...details.blocks])}`
    },
  ],
  [
    'mattermost',
    (notice) => {
      const { message, details } = renderMattermost(notice, false)
      return `${message}\n--\n${details}`
    },
  ],
  [
    'teams',
    (notice) => {
      const { body, actions } = renderTeams(notice).attachments[0].content
      return inLines([...body, ...actions])
    },
  ],
])('%s: every event and every cause', async ([kind, render]) => {
  const notices = [
    ...exampleNotifications.map(({ name, event, task }) => [name, noticeOf(event, task, shown)] as const),
    ...exampleLocks.map(
      ([name, lock]) => [`lock_changed: ${name}`, noticeOfLock(lock, 'https://watcher.example/')] as const,
    ),
  ]
  const texts = notices.map(([name, notice]) => `=== ${name}\n${render(notice)}\n`)
  await expect(texts.join('\n')).toMatchFileSnapshot(`golden/${kind}.txt`)
})
