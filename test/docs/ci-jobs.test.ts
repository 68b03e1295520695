import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { exitCodes } from '../../contract/exit-codes.ts'
import { mintToken } from '../../server/auth/tokens/mint-token.ts'
import { seededRandom } from '../../simulator/model/random.ts'
import { startBadProxy } from '../support/bad-proxy.ts'
import { reserveIdentityProvider } from '../support/identity-provider.ts'
import { type Service, startService } from '../support/service.ts'
import { deployToken, startWorld, type World, withToken } from '../support/world.ts'
import { checkout, codeBlocksOf, textOf } from './documents.ts'
import { issueDeployToken } from './issue-deploy-token.ts'

type Run = { readonly code: number | null; readonly output: string }
type Job = {
  readonly name: string
  readonly shell: readonly [string, ...string[]]
  readonly script: string
  readonly environment: Readonly<Record<string, string>>
}

const applications = ['shop', 'payments', 'stuck']
const jwtSecret = 'a secret of at least 32 bytes for the test'
const stack = new AsyncDisposableStack()
let world: World
/** Argo CD does not answer it. */
let blind: Service
let folder: string
let scopedToken: string
let accessToken: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-docs-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const idp = stack.use(await reserveIdentityProvider())
  const settings = { ...idp.settings, JWT_SECRET: jwtSecret }
  world = stack.use(await startWorld({ applications, settings: { ...settings, BAD_POD_GRACE: '2s' } }))
  blind = stack.use(
    await startService({
      settings: { ARGO_URL: 'http://127.0.0.1:1', DEPLOYMENT_TIMEOUT: '2s', JWT_SECRET: jwtSecret },
    }),
  )
  await idp.start(world.service.url)
  idp.users.set('ada', { preferred_username: 'ada', groups: ['platform'] })
  accessToken = await idp.issueOpaqueToken('ada')
  const issued = await issueDeployToken(world.service.url, accessToken, ['*'])
  scopedToken = issued.token
  world.simulator.control.overridePods('payments', {
    newPods: 'image-pull-error',
    except: ['registry.example/payments:v0'],
  })
  world.simulator.control.overridePods('stuck', { newPods: 'held', except: ['registry.example/stuck:v0'] })
})
afterAll(() => stack.disposeAsync())

async function jwt(): Promise<string> {
  const minted = await mintToken(['--app', '*', '--expires', '1h'], { JWT_SECRET: jwtSecret }, Date.now() / 1_000)
  if (!('token' in minted)) throw new Error(minted.issue)
  return minted.token
}

const yamlUnder = (heading: string) => {
  const block = codeBlocksOf('docs/ci.md').find((one) => one.heading === heading && one.language === 'yaml')
  if (block === undefined) throw new Error(`docs/ci.md has no job under "${heading}"`)
  return parse(block.code)
}

const gitHubVariables = {
  GITHUB_ACTIONS: 'true',
  GITHUB_ACTOR: 'ada',
  GITHUB_REPOSITORY: 'team/shop',
  GITHUB_SHA: 'abc',
}
const gitLabVariables = {
  GITLAB_CI: 'true',
  GITLAB_USER_LOGIN: 'ada',
  CI_PROJECT_PATH: 'team/shop',
  CI_COMMIT_SHA: 'abc',
}

function gitHubJob(heading: string): Job {
  const { env, steps } = yamlUnder(heading).jobs.deploy
  const [step] = steps
  // As a runner on Linux does where the job names no shell.
  const environment = { ...env, ...step.env, ...gitHubVariables }
  return { name: heading, shell: ['bash', '-e'], script: step.run, environment }
}

function gitLabJob(heading: string): Job {
  const { script, variables } = yamlUnder(heading).deploy
  return {
    name: heading,
    shell: ['sh', '-e'],
    script: script.join('\n'),
    environment: { ...variables, ...gitLabVariables },
  }
}

const client = path.join(checkout, 'cli/dist/deployment-watcher.mjs')

/** Runs the script of a job as its runner does; what the job leaves to the runner, such as secrets, is given. */
async function runJob(job: Job, changes: Readonly<Record<string, string>>): Promise<Run> {
  const file = path.join(folder, `${randomUUID()}.sh`)
  // What is published under this name.
  await writeFile(file, job.script.replace(/npx --yes deployment-watcher@\S+/, `"${process.execPath}" "${client}"`))
  const [command, ...flags] = job.shell
  const run = randomUUID()
  const child = spawn(command, [...flags, file], {
    cwd: await mkdtemp(path.join(folder, 'job-')),
    env: {
      PATH: process.env.PATH,
      ...job.environment,
      GITHUB_RUN_ID: run,
      GITHUB_RUN_ATTEMPT: '1',
      CI_JOB_ID: run,
      WATCHER_URL: world.service.url,
      WATCHER_TOKEN: await jwt(),
      TAG: `v-${run}`,
      ...changes,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject))
  return { code, output: Buffer.concat(chunks).toString() }
}

const of = (app: string) => ({ APP: app, IMAGE: `registry.example/${app}` })

const withClient = [gitHubJob('GitHub Actions'), gitLabJob('GitLab CI')]
const withCurl = [gitHubJob('GitHub Actions with curl'), gitLabJob('GitLab CI with curl')]

describe.each([...withClient, ...withCurl])('the job for $name', (job) => {
  test('ends with 0 when the task is deployed, and prints the address of its page', async () => {
    const { code, output } = await runJob(job, of('shop'))
    expect(output).toMatch(new RegExp(`${world.service.url}/task/[0-9a-f-]{36}\n(?:.*\n)*.*deployed\n`))
    expect(code).toBe(0)
  })

  test('takes a scoped deploy token as well', async () => {
    expect(await runJob(job, { ...of('shop'), WATCHER_TOKEN: scopedToken })).toMatchObject({ code: 0 })
  })

  test('submits the author, the project and the commit that the runner names', async () => {
    const { output } = await runJob(job, of('shop'))
    const [, id = ''] = /\/task\/(\S+)/.exec(output) ?? []
    expect(await world.service.getTask(id)).toMatchObject({
      author: 'ada',
      project: 'team/shop',
      source: { repository: 'team/shop', sha: 'abc' },
    })
  })

  test('goes on behind a proxy that cuts each connection and answers 502', async () => {
    const faults = { badAnswers: 0.3, cutAfterMs: 1_000, random: seededRandom(3) }
    await using proxy = await startBadProxy({ target: world.service.url, ...faults })
    const tag = `cut-${randomUUID()}`
    expect(await runJob(job, { ...of('payments'), TAG: tag, WATCHER_URL: proxy.url })).toMatchObject({ code: 1 })
    const { body } = await world.service.request(`/api/v1/tasks?search=${tag}`)
    expect(body).toMatchObject({ total: 1 })
    expect(proxy.counts.badAnswers + proxy.counts.cuts).toBeGreaterThan(0)
  })
})

describe.each(withCurl)('the exit codes of the job for $name', (job) => {
  test('takes the static deploy token in the header that the page names', async () => {
    const [, header = '', replaced = ''] =
      /send the header `(.+?)` in place of `(.+?)`/.exec(textOf('docs/ci.md')) ?? []
    const script = job.script.replaceAll(replaced, header)
    expect(script).not.toBe(job.script)
    const run = await runJob({ ...job, script }, { ...of('shop'), WATCHER_TOKEN: deployToken })
    expect(run).toMatchObject({ code: 0 })
  })

  test('failed, with the culprit', async () => {
    const { code, output } = await runJob(job, of('payments'))
    expect(output).toMatch(/\nfailed\nImage …\/payments:\S+ cannot be pulled: not found/)
    expect(code).toBe(exitCodes.failed)
  })

  test('app not found', async () => {
    const { code, output } = await runJob(job, of('unknown-to-argo-cd'))
    expect(output).toContain('\napp not found\n')
    expect(code).toBe(exitCodes.app_not_found)
  })

  test('aborted', async () => {
    const { code, output } = await runJob(job, { ...of('shop'), WATCHER_URL: blind.url })
    expect(output).toContain('\naborted\n')
    expect(code).toBe(exitCodes.aborted)
  })

  test('cancelled, when a newer task replaces it', async () => {
    const older = runJob(job, of('stuck'))
    await expect
      .poll(async () => (await world.service.request('/api/v1/tasks?app=stuck&status=in%20progress')).body)
      .toMatchObject({ total: 1 })
    const newer = await world.deploy('stuck', `newer-${randomUUID()}`)
    expect(await older).toMatchObject({ code: exitCodes.cancelled, output: expect.stringContaining('\ncancelled\n') })
    await world.service.request(`/api/v1/tasks/${newer}`, { method: 'DELETE', headers: withToken })
  })

  test('not authorized, with the reason', async () => {
    const { code, output } = await runJob(job, { ...of('shop'), WATCHER_TOKEN: 'wrong' })
    expect(output).toContain('credential rejected: ')
    expect(code).toBe(exitCodes.not_authorized)
  })

  test('rejected, with the field and the rule', async () => {
    const { code, output } = await runJob(job, { ...of('shop'), TAG: '' })
    expect(output).toContain('tag: must not be empty')
    expect(code).toBe(exitCodes.rejected)
  })

  test('locked', async () => {
    const headers = { 'Oidc-Authorization': `Bearer ${accessToken}` }
    await world.service.request('/api/v1/deploy-lock', { method: 'POST', headers })
    try {
      expect(await runJob(job, of('shop'))).toMatchObject({ code: exitCodes.locked })
    } finally {
      await world.service.request('/api/v1/deploy-lock', { method: 'DELETE', headers })
    }
  })
})

test('the page has a row for each exit code', () => {
  const rows = [...textOf('docs/ci.md').matchAll(/^\| (\d+) \| /gm)].map(([, code]) => Number(code))
  expect(rows).toEqual(Object.values(exitCodes))
})
