import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startChatDoubles } from '../support/chat-doubles.ts'
import { openConfigFile } from '../support/config-file.ts'
import { runCommand } from '../support/run-program.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

const opened = new AsyncDisposableStack()
let chats: Awaited<ReturnType<typeof startChatDoubles>>
let config: ReturnType<typeof openConfigFile>
let world: World
const events = ['started', 'succeeded', 'failed', 'cancelled']
const notify = (target: object) =>
  config.write({
    notifications: {
      targets: { chat: { allow_private: true, ...target } },
      routes: [{ events, targets: ['chat'] }],
    },
  })
const slack = () => notify({ kind: 'slack', url: chats.slackUrl, channel: 'C1', token: { env: 'CHAT_TOKEN' } })
const mattermost = () =>
  notify({ kind: 'mattermost', url: chats.mattermostUrl, channel: 'c1', token: { env: 'CHAT_TOKEN' } })

beforeAll(async () => {
  chats = opened.use(await startChatDoubles())
  config = opened.use(openConfigFile({}))
  world = opened.use(
    await startWorld({
      applications: ['shop', 'web'],
      settings: {
        CONFIG_FILE: config.file,
        CHAT_TOKEN: 'xoxb-token',
        TEAMS_URL: chats.teamsUrl,
        BAD_POD_GRACE: '1',
        PUBLIC_URL: 'https://watcher.example',
        MATTERMOST_ENABLED: 'true',
        MATTERMOST_URL: chats.mattermostUrl,
        MATTERMOST_TOKEN: 'xoxb-token',
        MATTERMOST_CHANNEL_ID: 'format',
        MATTERMOST_FORMAT: '**{{.App}}** by {{.Author}}: {{.Status}}{{range .Images}} {{.Tag}}{{end}}',
        MATTERMOST_MENTION_AUTHOR: 'true',
      },
    }),
  )
})
afterAll(() => opened.disposeAsync())
beforeEach(() => chats.forget())

const mains = () => chats.posts('c1').filter(({ thread }) => thread === undefined)
const details = () => chats.posts('c1').filter(({ thread }) => thread !== undefined)

test.for([
  ['Slack', slack],
  ['Mattermost', mattermost],
] as const)('%s has one message for a deployment, which is edited, and details in its thread', async ([, target]) => {
  target()
  await world.deploy('shop', `v-${Math.random().toString(36).slice(2)}`)
  await expect
    .poll(() => mains().map(({ text, edits }) => [text.split(' ', 2).join(' '), edits]))
    .toEqual([['✓ shop', 1]])
  await expect.poll(() => details()).toHaveLength(1)
  expect(chats.refusals()).toEqual([])
})

test('a message that was deleted meanwhile is posted anew', async () => {
  slack()
  world.hold('web', 'never-ready')
  const id = await world.deploy('web', 'v1')
  await expect.poll(() => mains()).toHaveLength(1)
  chats.forget()
  await world.service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken })
  await expect.poll(() => mains().map(({ text }) => text.split(' ', 1)[0])).toEqual(['–'])
  world.hold('web', 'never-ready', 'v1')
})

test('Teams has one card, at the end', async () => {
  notify({ kind: 'teams', url: { env: 'TEAMS_URL' } })
  world.hold('web', 'crashes')
  await world.deploy('web', 'v2')
  await expect.poll(() => chats.cards()).toHaveLength(1)
  expect(chats.cards()[0]).toContain('crashes on start')
  expect(chats.refusals()).toEqual([])
})

test('ten deployments at once in one channel: none is lost, and each has one message', async () => {
  slack()
  const apps = Array.from({ length: 10 }, (_, at) => `gone-${at}`)
  await Promise.all(apps.map((app) => world.service.acceptTask(aTask({ app }), withToken)))
  await expect
    .poll(
      () =>
        mains()
          .map(({ text }) => text.split(' ')[1])
          .sort(),
      { timeout: 50_000 },
    )
    .toEqual(apps.sort())
  await expect.poll(() => details().length, { timeout: 50_000 }).toBe(10)
  expect(chats.refusals()).toEqual([])
})

test('npm run notify sends a sample, and says why it cannot', () => {
  slack()
  const run = (args: readonly string[], change: Record<string, string> = {}) =>
    runCommand('notify', args, {
      ARGO_URL: 'https://argocd.example',
      ARGO_TOKEN: 'x',
      DATABASE_URL: 'postgres://a:b@db.example/c',
      CONFIG_FILE: config.file,
      CHAT_TOKEN: 'xoxb-token',
      ...change,
    })
  return Promise.all([
    expect(run(['chat'])).resolves.toMatchObject({ code: 0, stdout: 'chat took a sample of failed\n' }),
    expect(run(['chat'], { CHAT_TOKEN: 'other' })).resolves.toMatchObject({
      code: 1,
      stderr: 'chat: Slack answered invalid_auth\n',
    }),
    expect(run(['other'])).resolves.toMatchObject({ code: 2, stderr: 'no target is named other: chat\n' }),
    expect(run(['chat', '--event', 'lost'])).resolves.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('usage'),
    }),
  ])
})

test("argo-watcher's variables post the start, and the end as a reply in its thread", async () => {
  const tag = `m-${Math.random().toString(36).slice(2)}`
  await world.deploy('shop', tag, { author: 'ada *' })
  const ofTask = () => chats.posts('format').filter(({ text }) => text.endsWith(tag))
  await expect
    .poll(() => ofTask().map(({ text }) => text))
    .toEqual([`**shop** by ada \\*: in progress ${tag}`, `**shop** by ada \\*: deployed ${tag}`])
  expect(ofTask().map(({ thread, edits }) => [thread !== undefined, edits])).toEqual([
    [false, 0],
    [true, 0],
  ])
})
