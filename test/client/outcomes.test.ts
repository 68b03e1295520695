import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { exitCodes } from '../../contract/exit-codes.ts'
import { eventually } from '../support/eventually.ts'
import { normalizeOutput } from '../support/normalize-output.ts'
import { runClient, startClient } from '../support/run-client.ts'
import { test } from '../support/shared-world.ts'
import { deployToken, type World, withToken } from '../support/world.ts'

const app = (name: string) => `client-${name}`

let world: World
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications(...['well', 'broken', 'stuck', 'replaced', 'away', 'argo-watcher'].map(app))
  world.idp.users.set('ada', { preferred_username: 'ada', groups: ['platform'] })
  const { control } = world.simulator
  control.overridePods(app('broken'), { newPods: 'image-pull-error', except: [`registry.example/${app('broken')}:v0`] })
  for (const name of ['stuck', 'replaced'])
    control.overridePods(app(name), { newPods: 'held', except: [`registry.example/${app(name)}:v0`] })
  control.faults.http.add({ application: app('away'), action: { kind: 'error', status: 503 } })
})

type Form = { readonly name: string; readonly args?: readonly string[]; readonly variables?: Record<string, string> }

const forms: readonly [Form, ...Form[]] = [
  { name: 'plain' },
  { name: 'GitHub', variables: { GITHUB_ACTIONS: 'true' } },
  { name: 'GitLab', variables: { GITLAB_CI: 'true' } },
  { name: 'JSON', args: ['--output', 'json'] },
]

const baseVariables = () => ({ WATCHER_URL: world.service.url, WATCHER_TOKEN: deployToken })
const deployArgs = (name: string, tag: string) => [
  'deploy',
  ...['--author', 'ada', '--project', 'team'],
  ...['--app', app(name), '--image', `registry.example/${app(name)}:${tag}`],
]
const newTag = () => `v-${randomUUID()}`

type Outcome = {
  readonly name: string
  readonly code: number
  readonly app: string
  readonly tag?: string
  readonly args?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
  /** What happens once the task is in progress. */
  readonly meanwhile?: (tag: string) => Promise<void>
  readonly isLocked?: boolean
  /** There is no task. */
  readonly isRefused?: boolean
}

/** Ends the task of this tag by a newer one, and that one too. */
async function replace(name: string, tag: string): Promise<void> {
  await inProgress(name, tag)
  const newer = await world.deploy(app(name), newTag())
  await world.service.request(`/api/v1/tasks/${newer}`, { method: 'DELETE', headers: withToken })
}
const inProgress = (name: string, tag: string) =>
  eventually(async () => {
    const { body } = await world.service.request(`/api/v1/tasks?app=${app(name)}&search=${tag}`)
    expect(body).toMatchObject({ tasks: [{ status: 'in progress' }] })
  })

const outcomes: readonly Outcome[] = [
  { name: 'deployed', code: exitCodes.deployed, app: 'well' },
  { name: 'failed', code: exitCodes.failed, app: 'broken' },
  {
    name: 'not-authorized',
    code: exitCodes.not_authorized,
    app: 'well',
    variables: { WATCHER_TOKEN: 'wrong' },
    isRefused: true,
  },
  { name: 'rejected', code: exitCodes.rejected, app: 'well', args: ['--author', ''], isRefused: true },
  { name: 'locked', code: exitCodes.locked, app: 'well', isLocked: true, isRefused: true },
  { name: 'replaced', code: exitCodes.cancelled, app: 'replaced', meanwhile: (tag) => replace('replaced', tag) },
  { name: 'aborted', code: exitCodes.aborted, app: 'away', args: ['--timeout', '3s'] },
  { name: 'app-not-found', code: exitCodes.app_not_found, app: 'wel' },
]

async function withLock(isLocked: boolean, act: () => Promise<void>): Promise<void> {
  if (!isLocked) return act()
  const variables = {
    WATCHER_URL: world.service.url,
    WATCHER_ACCESS_TOKEN: await world.idp.issueOpaqueToken('ada'),
  }
  const locked = await runClient(['lock', 'set', '--reason', 'OPS-2214'], variables)
  expect(locked).toMatchObject({ code: 0, stdout: 'Deployments are locked.\n' })
  try {
    expect(await runClient(['lock', 'status'], variables)).toMatchObject({
      code: exitCodes.locked,
      stdout: 'Deployments are locked by ada: OPS-2214\n',
    })
    await act()
  } finally {
    expect(await runClient(['lock', 'release'], variables)).toMatchObject({ code: 0 })
  }
  expect(await runClient(['lock', 'status'], variables)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Deployments are open\./),
  })
}

describe('each outcome has its exit code, and says what happened in every form', () => {
  test.for(outcomes)('$name', async (outcome) => {
    const tag = newTag()
    const start = ({ args = [], variables = {} }: Form, what: readonly string[]) =>
      startClient([...what, ...args], { ...baseVariables(), ...outcome.variables, ...variables })
    const [plain, ...others] = forms
    const deploy = [...deployArgs(outcome.app, tag), ...(outcome.args ?? [])]
    await withLock(outcome.isLocked === true, async () => {
      const first = start(plain, deploy)
      const id = outcome.isRefused ? undefined : await idOf(first)
      const all = [first, ...others.map((form) => start(form, id === undefined ? deploy : ['wait', id]))]
      await outcome.meanwhile?.(tag)
      const said: string[] = []
      for (const [index, { ended }] of all.entries()) {
        const { code, stdout, stderr } = await ended
        const isJson = forms[index]?.name === 'JSON'
        expect([code, isJson ? '' : stderr]).toEqual([outcome.code, ''])
        said.push(`== ${forms[index]?.name}\n${isJson ? `${jsonOf(stdout)}\n` : normalizeOutput(stdout, tag, world)}`)
      }
      await expect(said.join('\n')).toMatchFileSnapshot(`golden/${outcome.name}.txt`)
    })
  })
})

/** Of the task that a client follows. */
const idOf = ({ stdout }: ReturnType<typeof startClient>) =>
  eventually(() => {
    const [, id] = /\/task\/(\S+)/.exec(stdout()) ?? []
    if (id === undefined) throw new Error('no task is followed')
    return id
  })

/** The fields by which programs decide; the record is the API's. */
function jsonOf(stdout: string): string {
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
  const { tasks } = JSON.parse(stdout)
  expect(tasks).toHaveLength(1)
  const [{ app: name, status, cause, code, reason, set_by, error, exit_code }] = tasks
  return JSON.stringify({ app: name, status, cause, code, reason, set_by, error, exit_code }, undefined, 1)
}

test('several applications: failures first, and the worst exit code', async () => {
  const tags = [newTag(), newTag()]
  const [, ...well] = deployArgs('well', tags[0] ?? '')
  const { code, stdout } = await runClient(
    [...deployArgs('broken', tags[1] ?? ''), ...well, '--app', 'client-none', '--image', 'a:1'],
    baseVariables(),
  )
  expect(code).toBe(exitCodes.failed)
  expect(stdout).toMatch(/^client-well +\+\S+ +deployed$/m)
  expect(stdout.indexOf('cannot be pulled: not found')).toBeLessThan(
    stdout.indexOf('client-none 1 app not found after'),
  )
})

describe('without a verdict', () => {
  test('an address that does not exist ends with 3, at once', async () => {
    for (const args of [deployArgs('well', newTag()), ['wait', randomUUID()]])
      expect(await runClient(args, { WATCHER_URL: 'http://watcher.invalid' })).toMatchObject({
        code: exitCodes.unreachable,
        stdout: expect.stringContaining('http://watcher.invalid: '),
      })
  })

  test('a task that is gone ends with 9', async () => {
    const id = randomUUID()
    expect(await runClient(['wait', id], baseVariables())).toMatchObject({
      code: exitCodes.gave_up,
      stdout: `task ${id} has no verdict: task not found\n`,
    })
  })

  test('wrong usage ends with 2', async () => {
    expect(await runClient(['deploy', '--ap', 'shop'])).toMatchObject({
      code: exitCodes.usage,
      stderr: expect.stringContaining('Did you mean --app?'),
    })
  })

  test('an error of its own ends with 70', async () => {
    const crash = 'data:text/javascript,setTimeout(() => { throw new Error("planted") }, 200)'
    const run = await runClient(deployArgs('stuck', newTag()), {
      ...baseVariables(),
      NODE_OPTIONS: `--import=${encodeURI(crash)}`,
    })
    expect(run).toMatchObject({
      code: exitCodes.internal_error,
      stderr: expect.stringContaining('internal error: Error: planted'),
    })
  })

  test.for(['SIGINT', 'SIGTERM'] as const)('%s ends with 130, and the deployment goes on', async (signal) => {
    const tag = newTag()
    const client = startClient(deployArgs('stuck', tag), baseVariables())
    await eventually(() => expect(client.stdout()).toContain('committed'))
    client.signal(signal)
    const { code, stdout } = await client.ended
    expect(code).toBe(exitCodes.interrupted)
    const [, id = ''] = /Follow it with: deployment-watcher wait (\S+)/.exec(stdout) ?? []
    expect(await world.service.getTask(id)).toMatchObject({ status: 'in progress' })
    const cancelled = await runClient(['cancel', id], baseVariables())
    expect(cancelled).toMatchObject({ code: 0, stdout: expect.stringContaining(' cancelled after ') })
    expect(await runClient(['cancel', id], baseVariables())).toMatchObject({ code: exitCodes.rejected })
  })

  test('with --cancel-on-interrupt it is cancelled', async () => {
    const client = startClient([...deployArgs('stuck', newTag()), '--cancel-on-interrupt'], baseVariables())
    await eventually(() => expect(client.stdout()).toContain('committed'))
    client.signal('SIGTERM')
    const { code, stdout } = await client.ended
    expect(code).toBe(exitCodes.interrupted)
    const [, id = ''] = /task\/(\S+)/.exec(stdout) ?? []
    expect(await world.service.getTask(id)).toMatchObject({ status: 'cancelled' })
  })
})

test("argo-watcher's variables alone run it", async () => {
  const tag = newTag()
  const run = await runClient([], {
    ARGO_WATCHER_URL: world.service.url,
    ARGO_WATCHER_DEPLOY_TOKEN: deployToken,
    ARGO_APP: app('argo-watcher'),
    IMAGES: `registry.example/${app('argo-watcher')}`,
    IMAGE_TAG: tag,
    COMMIT_AUTHOR: 'ada',
    PROJECT_NAME: 'team',
    RETRY_INTERVAL: '1s',
    EXPECTED_DEPLOY_TIME: '1s',
    TASK_TIMEOUT: '60',
    DEBUG: 'true',
  })
  expect(run).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/committed [0-9a-f]{7} to main\n(?:.*\n)*.*deployed\n$/),
    stderr: expect.stringMatching(/^POST \/api\/v1\/tasks 202 \d+ ms\n/),
  })
})

test('submits and goes on with --detach; status and list show it, wait follows it', async () => {
  const tag = newTag()
  const detached = await runClient([...deployArgs('well', tag), '--detach'], baseVariables())
  expect(detached.code).toBe(0)
  const [, id = ''] = /^client-well submitted: \S+\/task\/(\S+)$/m.exec(detached.stdout) ?? []
  const waited = await runClient(['wait', id], baseVariables())
  expect(waited).toMatchObject({ code: 0, stdout: expect.stringMatching(/ deployed\n$/) })
  expect((await runClient(['status', id], baseVariables())).stdout).toMatch(
    new RegExp(`^client-well .*${tag}: deployed in \\S+\\nDetails: `),
  )
  expect((await runClient(['list', '--search', tag], baseVariables())).stdout).toMatch(
    new RegExp(`^${id}  .* UTC  deployed  client-well .*${tag}  ada\\n$`),
  )
  expect(
    JSON.parse((await runClient(['list', '--search', tag, '--output', 'json'], baseVariables())).stdout),
  ).toMatchObject({ tasks: [{ id }] })
  expect((await runClient(['version'], baseVariables())).stdout).toMatch(
    /^deployment-watcher \d\S*\nservice \d\S* at http/,
  )
})
