import { expect, test } from 'vitest'
import { exampleNotifications, pageUrl } from './example-tasks.ts'
import { renderMattermost } from './mattermost.ts'
import { renderSlack } from './slack.ts'
import { renderTeams } from './teams.ts'

const shown = { pageUrl, logs: true }
/** A line for each block. */
const inLines = (blocks: readonly unknown[]) => blocks.map((block) => JSON.stringify(block)).join('\n')

test.for<[string, (one: (typeof exampleNotifications)[number]) => string]>([
  [
    'slack',
    ({ event, task }) => {
      const { message, details } = renderSlack(event, task, shown)
      const { blocks, attachments, text } = message
      return `${inLines([{ text }, ...blocks, ...attachments])}\n--\n${inLines([{ text: details.text }, ...details.blocks])}`
    },
  ],
  [
    'mattermost',
    ({ event, task }) => {
      const { message, details } = renderMattermost(event, task, { ...shown, mentionsAuthor: false })
      return `${message}\n--\n${details}`
    },
  ],
  [
    'teams',
    ({ event, task }) => {
      const { body, actions } = renderTeams(event, task, shown).attachments[0].content
      return inLines([...body, ...actions])
    },
  ],
])('%s: every event and every cause', async ([kind, render]) => {
  const texts = exampleNotifications.map((one) => `=== ${one.name}\n${render(one)}\n`)
  await expect(texts.join('\n')).toMatchFileSnapshot(`golden/${kind}.txt`)
})
