import { expect, test } from 'vitest'
import { startChatDoubles } from '../../test/support/chat-doubles.ts'
import { openConfigFile } from '../../test/support/config-file.ts'
import { startWorld } from '../../test/support/world.ts'

const deployments = 40
const limitMs = 10 * 60_000

test('40 deployments in 10 s in one channel that takes a message a second: none is lost, and each is in order', {
  timeout: limitMs,
}, async () => {
  await using chats = await startChatDoubles()
  using config = openConfigFile({
    notifications: {
      targets: {
        chat: {
          kind: 'slack',
          url: chats.slackUrl,
          channel: 'C1',
          token: { env: 'CHAT_TOKEN' },
          allow_private: true,
        },
      },
      routes: [{ events: ['started', 'succeeded', 'failed'], targets: ['chat'] }],
    },
  })
  const applications = Array.from({ length: deployments }, (_, at) => `burst-${at}`)
  await using world = await startWorld({
    applications,
    settings: { CONFIG_FILE: config.file, CHAT_TOKEN: 'xoxb-token' },
  })
  const began = performance.now()
  await Promise.all(applications.map((app) => world.deploy(app, 'v1')))
  const submittedMs = performance.now() - began
  const mains = () => chats.posts('c1').filter(({ thread }) => thread === undefined)
  const details = () => chats.posts('c1').filter(({ thread }) => thread !== undefined)
  const told = () => mains().filter(({ text }) => text.startsWith('✓'))
  await expect
    .poll(() => [told().length, details().length], { timeout: limitMs - 60_000 })
    .toEqual([deployments, deployments])
  console.info(
    `${deployments} submitted within ${Math.round(submittedMs)} ms, all told after ${Math.round((performance.now() - began) / 1_000)} s`,
  )
  expect(new Set(mains().map(({ text }) => text.split(' ')[1])).size).toBe(deployments)
  expect(mains()).toHaveLength(deployments)
  expect(chats.refusals()).toEqual([])
})
