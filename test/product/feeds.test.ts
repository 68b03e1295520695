import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openConfigFile } from '../support/config-file.ts'
import { type ReceivedSpan, startFeedReceivers } from '../support/feed-receivers.ts'
import { runClient } from '../support/run-client.ts'
import { aTask } from '../support/service.ts'
import { startWorld, type World, withToken } from '../support/world.ts'

const opened = new AsyncDisposableStack()
let feeds: Awaited<ReturnType<typeof startFeedReceivers>>
let world: World

beforeAll(async () => {
  feeds = opened.use(await startFeedReceivers())
  const common = { allow_private: true }
  const events = ['started', 'succeeded', 'failed', 'aborted', 'cancelled']
  const config = opened.use(
    openConfigFile({
      notifications: {
        targets: {
          devlake: {
            kind: 'devlake',
            url: `${feeds.url}/devlake`,
            token: { env: 'FEED_KEY' },
            environments: { production: 'PRODUCTION' },
            ...common,
          },
          cdevents: {
            kind: 'cdevents',
            url: `${feeds.url}/cdevents`,
            authorization: { env: 'FEED_AUTHORIZATION' },
            ...common,
          },
          otlp: { kind: 'otlp', url: `${feeds.url}/otlp/v1/traces` },
        },
        routes: [{ events, targets: ['devlake', 'cdevents', 'otlp'] }],
      },
    }),
  )
  world = opened.use(
    await startWorld({
      applications: ['shop', 'web'],
      settings: {
        CONFIG_FILE: config.file,
        FEED_KEY: 'feed-token',
        FEED_AUTHORIZATION: 'Bearer feed-token',
        BAD_POD_GRACE: '1',
        PUBLIC_URL: 'https://watcher.example',
      },
    }),
  )
})
afterAll(() => opened.disposeAsync())
beforeEach(() => {
  for (const received of [feeds.deployments, feeds.cdEvents, feeds.traces, feeds.refusals]) received.length = 0
})

const source = { repository: 'https://git.example/shop', sha: 'a1b2c3', ref: 'main' }
const idOf = (span: ReceivedSpan | undefined) => attributesOf(span)['cicd.pipeline.task.run.id']
const attributesOf = (span: ReceivedSpan | undefined): Record<string, string> =>
  Object.fromEntries(span?.attributes.map(({ key, value }) => [key, value.stringValue]) ?? [])
const traceOf = async (id: string): Promise<readonly ReceivedSpan[]> => {
  const found = () => feeds.traces.filter(([root]) => idOf(root) === id)
  await expect.poll(() => [found().length, feeds.refusals]).toEqual([1, []])
  return found()[0] ?? []
}

test('a trace has one span for a task, below the one of its traceparent, with its gates as children', async () => {
  const [traceId, parent] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const headers = { ...withToken, traceparent: `00-${traceId}-${parent}-01` }
  const task = { ...aTask({ app: 'shop', environment: 'production', source }), images: [image('t1')] }
  const id = await world.service.acceptTask(task, headers)
  await world.service.waitForEnd(id)
  const [root, ...gates] = await traceOf(id)
  expect(root).toMatchObject({ traceId, parentSpanId: parent, name: 'deploy shop', status: { code: 1 } })
  const { created, updated } = await world.service.getTask(id)
  expect([root?.startTimeUnixNano, root?.endTimeUnixNano].map((text) => Number(text) / 1e9)).toEqual([
    expect.closeTo(created, 3),
    expect.closeTo(updated, 3),
  ])
  expect(attributesOf(root)).toMatchObject({
    'cicd.pipeline.task.name': 'shop',
    'cicd.pipeline.task.run.result': 'success',
    'cicd.pipeline.task.run.url.full': `https://watcher.example/task/${id}`,
    'deployment.environment.name': 'production',
    'vcs.ref.head.revision': 'a1b2c3',
  })
  expect(attributesOf(root)).not.toHaveProperty(['error.type'])
  expect(root?.events?.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['accepted', 'commit_pushed', 'verdict']),
  )
  expect(gates.map(({ name }) => name)).toEqual(['Accepted', 'Committed', 'Picked up', 'Synced', 'Healthy', 'Settled'])
  for (const gate of gates) expect(gate).toMatchObject({ traceId, parentSpanId: root?.spanId })
  expect(new Set([root, ...gates].map((span) => span?.spanId)).size).toBe(7)
  expect(gates.map((gate) => gate.startTimeUnixNano).slice(1)).toEqual(
    gates.map((gate) => gate.endTimeUnixNano).slice(0, -1),
  )
  expect(gates.at(-1)?.endTimeUnixNano).toBe(root?.endTimeUnixNano)
  expect(feeds.refusals).toEqual([])
})

test('a failure has its cause as error.type, on its span and on the gate where it stopped', async () => {
  world.hold('web', 'crashes')
  const headers = { ...withToken, traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01' }
  const id = await world.service.acceptTask({ ...aTask({ app: 'web' }), images: [image('f1', 'web')] }, headers)
  const [root, ...gates] = await traceOf(id)
  const failure = { 'error.type': 'crash_loop' }
  expect(root).toMatchObject({ traceId: id.replaceAll('-', ''), status: { code: 2, message: expect.any(String) } })
  expect(root).not.toHaveProperty('parentSpanId')
  expect(attributesOf(root)).toMatchObject({ ...failure, 'cicd.pipeline.task.run.result': 'failure' })
  expect(gates.at(-1)).toMatchObject({ name: 'Healthy', status: { code: 2 } })
  expect(attributesOf(gates.at(-1))).toEqual(failure)
  expect(feeds.cdEvents).toEqual([])
})

test('the client passes the TRACEPARENT of its pipeline on', async () => {
  const [traceId, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const variables = {
    WATCHER_URL: world.service.url,
    WATCHER_TOKEN: withToken['Watcher-Deploy-Token'],
    TRACEPARENT: `00-${traceId}-${parent}-00`,
  }
  const args = ['deploy', '--app', 'shop', '--image', 'registry.example/shop:p1', '--output', 'json']
  const { code, stdout } = await runClient(args, variables)
  expect(code).toBe(0)
  const [{ id }] = (JSON.parse(stdout) as { tasks: [{ id: string }] }).tasks
  expect((await traceOf(id))[0]).toMatchObject({ traceId, parentSpanId: parent })
})

test('DevLake learns of deployments that name their commit and an environment of the mapping, whatever their end', async () => {
  await world.deploy('shop', 'd1', { environment: 'staging', source })
  await world.deploy('shop', 'd2', { environment: 'production' })
  const deployed = await world.deploy('shop', 'd3', { environment: 'production', source })
  await world.service.waitForEnd(deployed)
  const failed = await world.service.acceptTask(aTask({ app: 'gone', environment: 'production', source }), withToken)
  await expect.poll(() => feeds.deployments).toHaveLength(2)
  const times = { startedDate: expect.any(String), finishedDate: expect.any(String) }
  const commit = { repoUrl: source.repository, commitSha: source.sha, refName: 'main', ...times }
  const shown = { environment: 'PRODUCTION', deploymentCommits: [commit] }
  expect(feeds.deployments).toMatchObject([
    { id: deployed, result: 'SUCCESS', ...shown },
    { id: failed, result: 'FAILURE', ...shown },
  ])
  expect(feeds.refusals).toEqual([])
})

test('each image that was deployed, upgraded or rolled back is a CDEvent of its own, once, also after an outage', async () => {
  const deploy = async (tag: string) => {
    const id = await world.deploy('shop', tag, { environment: 'production' })
    await world.service.waitForEnd(id)
    return id
  }
  const first = await deploy('c1')
  feeds.failOnceAfter(1)
  const second = await deploy('c2')
  const third = await deploy('c1')
  const ofTask = (id: string) => feeds.cdEvents.filter(({ context }) => context.id.startsWith(id))
  const typesOf = (id: string) => ofTask(id).map(({ context: { type } }) => type)
  await expect.poll(() => typesOf(third)).toEqual(['dev.cdevents.service.rolledback.0.3.0'])
  await expect.poll(() => typesOf(second)).toEqual(['dev.cdevents.service.upgraded.0.3.0'])
  expect(ofTask(first)[0]).toMatchObject({
    context: { id: `${first}/1`, source: 'https://watcher.example/' },
    subject: {
      id: 'shop',
      content: {
        environment: { id: 'production' },
        artifactId: 'pkg:oci/shop?repository_url=registry.example/shop&tag=c1',
      },
    },
    customData: { task: first, url: `https://watcher.example/task/${first}` },
  })
  expect(feeds.refusals).toEqual([])
})

function image(tag: string, name = 'shop') {
  return { image: `registry.example/${name}`, tag }
}
