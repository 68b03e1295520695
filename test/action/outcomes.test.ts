import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect } from 'vitest'
import { exitCodes } from '../../contract/exit-codes.ts'
import { eventually } from '../support/eventually.ts'
import { startForwardProxy } from '../support/forward-proxy.ts'
import { mintJwt } from '../support/mint-jwt.ts'
import { normalizeOutput } from '../support/normalize-output.ts'
import { runStep, type StepEnd, startStep, stateVariables } from '../support/run-action.ts'
import { runClient } from '../support/run-client.ts'
import { jwtSecret, test } from '../support/shared-world.ts'
import { startIdTokens } from '../support/start-id-tokens.ts'
import { startTlsFront } from '../support/tls-front.ts'
import { deployToken, type World, withToken } from '../support/world.ts'

const app = (name: string) => `action-${name}`
const newTag = () => `v-${randomUUID()}`

let world: World
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications(...['well', 'broken', 'stuck', 'replaced'].map(app))
  world.idp.users.set('ada', { preferred_username: 'ada', groups: ['platform'] })
  const { control } = world.simulator
  control.overridePods(app('broken'), { newPods: 'image-pull-error', except: [`registry.example/${app('broken')}:v0`] })
  for (const name of ['stuck', 'replaced'])
    control.overridePods(app(name), { newPods: 'held', except: [`registry.example/${app(name)}:v0`] })
})

const inputsOf = (name: string, tag: string) => ({
  server: world.service.url,
  apps: app(name),
  images: `registry.example/${app(name)}:${tag}`,
  token: deployToken,
})

/** All that a step leaves behind, for a golden file. */
const told = ({ code, outputs, summary, log }: StepEnd, tag: string) =>
  normalizeOutput(
    [
      `exit ${code}`,
      ...Object.entries(outputs).map(([name, value]) => `${name}: ${value}`.trimEnd()),
      `\n== summary\n${summary}\n== log\n${log}`,
    ].join('\n'),
    tag,
    world,
  )
    .replace(/^(duration-seconds): \d+(\.\d+)?$/m, '$1: <seconds>')
    .replace(/\+<time> \| \d\d:\d\d:\d\d \|/g, '+<time> | <clock> |')

const golden = async (name: string, end: StepEnd, tag: string) =>
  expect(told(end, tag)).toMatchFileSnapshot(`golden/${name}.txt`)

const taskOf = ({ outputs }: StepEnd) => world.service.getTask(outputs['task-ids'] ?? '')

describe('outputs, summary, log and exit code of each outcome', () => {
  test('deployed', async () => {
    const [before, tag] = ['v-before', newTag()]
    const first = await runStep('main', { inputs: inputsOf('well', before) })
    const end = await runStep('main', { inputs: { ...inputsOf('well', tag), environment: 'production' } })
    await golden('deployed', end, tag)
    expect(first.outputs['task-ids']).not.toBe(end.outputs['task-ids'])
    expect(await taskOf(end)).toMatchObject({
      status: 'deployed',
      author: 'ada',
      project: 'team/shop',
      environment: 'production',
      source: { repository: 'team/shop', sha: 'abc' },
    })
  })

  test('failed', async () => {
    const tag = newTag()
    await golden('failed', await runStep('main', { inputs: inputsOf('broken', tag) }), tag)
  })

  test('replaced by a newer deployment', async () => {
    const tag = newTag()
    const step = await startStep('main', { inputs: inputsOf('replaced', tag) })
    await eventually(async () => {
      const [, id = ''] = /\/task\/(\S+)/.exec(step.log()) ?? []
      expect(await world.service.getTask(id)).toMatchObject({ unmet_condition: 'healthy' })
    })
    const newer = await world.deploy(app('replaced'), newTag())
    await world.service.request(`/api/v1/tasks/${newer}`, { method: 'DELETE', headers: withToken })
    await golden('replaced', await step.ended, tag)
  })

  test('locked', async () => {
    const variables = {
      WATCHER_URL: world.service.url,
      WATCHER_ACCESS_TOKEN: await world.idp.issueOpaqueToken('ada'),
    }
    await runClient(['lock', 'set', '--reason', 'OPS-2214 <b>##[error]'], variables)
    try {
      const tag = newTag()
      await golden('locked', await runStep('main', { inputs: inputsOf('well', tag) }), tag)
    } finally {
      await runClient(['lock', 'release'], variables)
    }
  })

  test('not authorized', async () => {
    const tag = newTag()
    const end = await runStep('main', { inputs: { ...inputsOf('well', tag), token: 'wrong' } })
    await golden('not-authorized', end, tag)
  })

  test('a job without the permission for an ID token', async () => {
    const tag = newTag()
    const end = await runStep('main', { inputs: { ...inputsOf('well', tag), token: '' } })
    await golden('no-permission', end, tag)
  })

  test('several applications: what went worst comes first, and is what the outputs tell', async () => {
    const tag = newTag()
    const tasks = ['well', 'broken', 'none'].map((name) => ({
      app: app(name),
      images: [`registry.example/${app(name)}:${tag}`],
    }))
    const file = path.join(tmpdir(), `${tag}.json`)
    await writeFile(file, JSON.stringify({ tasks }))
    const { server, token } = inputsOf('well', tag)
    const end = await runStep('main', { inputs: { server, token, 'tasks-file': file } })
    expect(end).toMatchObject({ code: exitCodes.failed, outputs: { status: 'failed', cause: 'image_pull' } })
    expect(end.outputs['task-ids']?.split('\n')).toHaveLength(3)
    const headings = end.summary.match(/^### action-\w+/gm)
    expect(headings).toEqual(['### action-broken', '### action-none', '### action-well'])
    expect(end.log.match(/^::error /gm)).toHaveLength(1)
  })
})

test('each image is deployed to each application, through the proxy of the runner', async () => {
  await using proxy = await startForwardProxy()
  const tag = newTag()
  const images = [app('well'), 'registry.example/unmanaged'].map((name) => `registry.example/${name}:${tag}`)
  const inputs = {
    ...inputsOf('well', tag),
    apps: `\n ${app('none-1')}\r\n${app('none-2')}\n`,
    images: images.join('\n'),
  }
  const end = await runStep('main', { inputs, variables: { HTTP_PROXY: proxy.url } })
  expect(end).toMatchObject({ code: exitCodes.app_not_found, outputs: { status: 'app not found' } })
  expect(proxy.asked.filter((one) => one === `POST ${world.service.url}/api/v1/tasks`)).toHaveLength(2)
  for (const id of end.outputs['task-ids']?.split('\n') ?? [])
    expect(await world.service.getTask(id)).toMatchObject({ images: [{ tag }, { tag }] })
})

test('over https, through the proxy of the runner', async () => {
  await using proxy = await startForwardProxy()
  await using front = await startTlsFront(world.service.url)
  const inputs = { ...inputsOf('well', newTag()), server: front.url }
  const end = await runStep('main', { inputs, variables: { ...front.variables, HTTPS_PROXY: proxy.url } })
  expect(end).toMatchObject({ code: 0, outputs: { status: 'deployed' } })
  expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT ${new URL(front.url).host}`]))
})

describe('without a token the step proves itself with the ID token of the job', () => {
  const idTokens = () =>
    startIdTokens((audience) => mintJwt({ aud: audience, exp: Math.ceil(Date.now() / 1_000) + 300 }, jwtSecret))
  const keyless = (name: string) => ({ ...inputsOf(name, newTag()), token: '' })

  test('which is masked; its audience is the address of the service', async () => {
    await using runner = await idTokens()
    const end = await runStep('main', { inputs: keyless('well'), variables: runner.variables })
    expect(end).toMatchObject({ code: 0, log: expect.stringMatching(/^::add-mask::ey/) })
    expect(end.outputs.commit).toMatch(/^[0-9a-f]{40}$/)
    expect(runner.audiences).toEqual([world.service.url])
  })

  test('also in post, for the audience that the input names', async () => {
    await using runner = await idTokens()
    const inputs = { ...keyless('stuck'), audience: 'https://other.example', 'cancel-on-interrupt': 'true' }
    const step = await startStep('main', { inputs, variables: runner.variables })
    await eventually(() => expect(step.log()).toContain('committed'))
    step.signal('SIGKILL')
    const { state } = await step.ended
    const post = await runStep('post', { inputs, variables: { ...runner.variables, ...stateVariables(state) } })
    expect(post.log).toContain(' cancelled after ')
    expect(runner.audiences).toEqual(['https://other.example', 'https://other.example'])
  })
})

describe('a cancelled job', () => {
  const startHeld = async (inputs: Record<string, string> = {}) => {
    const tag = newTag()
    const step = await startStep('main', { inputs: { ...inputsOf('stuck', tag), ...inputs } })
    await eventually(() => expect(step.log()).toContain('committed'))
    return { step, tag }
  }
  const statusOf = async ({ state }: StepEnd) => (await world.service.getTask(state.tasks ?? '')).status
  const post = ({ state }: StepEnd) =>
    runStep('post', { inputs: inputsOf('stuck', ''), variables: stateVariables(state) })

  test.for(['SIGINT', 'SIGTERM'] as const)(
    '%s cancels the deployment at once, where the input says so',
    async (signal) => {
      const { step, tag } = await startHeld({ 'cancel-on-interrupt': 'true' })
      step.signal(signal)
      const end = await step.ended
      await golden('cancelled', end, tag)
      expect(await statusOf(end)).toBe('cancelled')
      expect(await post(end)).toMatchObject({ code: 0, log: expect.stringMatching(/^Task \S+: .*cancelled/) })
    },
  )

  test('a step that is killed leaves the cancel to post', async () => {
    const { step } = await startHeld({ 'cancel-on-interrupt': 'true' })
    step.signal('SIGKILL')
    const end = await step.ended
    expect(await statusOf(end)).toBe('in progress')
    expect(await post(end)).toMatchObject({ code: 0, log: expect.stringContaining(' cancelled after ') })
    expect(await statusOf(end)).toBe('cancelled')
  })

  test('without the input the deployment goes on', async () => {
    const { step, tag } = await startHeld()
    step.signal('SIGINT')
    const end = await step.ended
    await golden('interrupted', end, tag)
    expect(await post(end)).toMatchObject({ code: 0, log: '' })
    expect(await taskOf(end)).toMatchObject({ status: 'in progress' })
    const { 'task-ids': id = '' } = end.outputs
    await world.service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: withToken })
  })

  test('one that was cancelled after its verdict leaves nothing to cancel', async () => {
    const inputs = { ...inputsOf('well', newTag()), 'cancel-on-interrupt': 'true' }
    const end = await runStep('main', { inputs })
    expect(end).toMatchObject({ code: 0, state: { tasks: '' } })
    expect(await post(end)).toMatchObject({ code: 0, log: '' })
  })
})
