import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exitCodes } from '../../contract/exit-codes.ts'
import { mintToken } from '../../server/auth/tokens/mint-token.ts'
import { seededRandom } from '../../simulator/model/random.ts'
import { startBadProxy } from '../support/bad-proxy.ts'
import { jobsOfComponent } from '../support/gitlab-component.ts'
import { reserveIdentityProvider } from '../support/identity-provider.ts'
import { runStep } from '../support/run-action.ts'
import { type Service, startService } from '../support/service.ts'
import { deployToken, startWorld, type World, withToken } from '../support/world.ts'
import { type Job, jobsInClusters, jobsWithClient, jobsWithCurl, otherJobs, yamlUnder } from './ci-jobs.ts'
import { checkout, textOf } from './documents.ts'
import { issueDeployToken } from './issue-deploy-token.ts'

type Run = { readonly code: number | null; readonly output: string; readonly folder: string }

const client = path.join(checkout, 'cli/dist/deployment-watcher.mjs')
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
  // As the image of the service has it.
  await symlink(client, path.join(folder, 'deployment-watcher'))
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

/** Runs the script of a job as its runner does; what the job leaves to the runner, such as secrets, is given. */
async function runJob(job: Job, changes: Readonly<Record<string, string>>): Promise<Run> {
  const file = path.join(folder, `${randomUUID()}.sh`)
  // What is published under this name.
  await writeFile(file, job.script.replace(/npx --yes deployment-watcher@\S+/, `"${process.execPath}" "${client}"`))
  const [command, ...flags] = job.shell
  const run = randomUUID()
  const cwd = await mkdtemp(path.join(folder, 'job-'))
  const child = spawn(command, [...flags, file], {
    cwd,
    env: {
      PATH: `${folder}${path.delimiter}${process.env.PATH}`,
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
  return { code, output: Buffer.concat(chunks).toString(), folder: cwd }
}

const of = (app: string) => ({ APP: app, IMAGE: `registry.example/${app}` })

describe.each([...jobsWithClient, ...jobsWithCurl])('the job for $name', (job) => {
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

describe.each(jobsWithCurl)('the exit codes of the job for $name', (job) => {
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

/** What the runner of a job sets beside its variables: the tag by its own name, or behind the image. */
function ofRunner({ tagVariable = 'TAG', isTagged = false }: Job, app: string, tag: string) {
  const { IMAGE: image } = of(app)
  return { ...of(app), IMAGE: isTagged ? `${image}:${tag}` : image, [tagVariable]: tag }
}

/** A deployment that works and one that fails, with the task of the first. */
async function runTwice(job: Job, tag: string) {
  const [well, broken] = await Promise.all(['shop', 'payments'].map((app) => runJob(job, ofRunner(job, app, tag))))
  expect([well?.code, broken?.code]).toEqual([0, exitCodes.failed])
  const [, id = ''] = /\/task\/(\S+)/.exec(well?.output ?? '') ?? []
  return world.service.getTask(id)
}

test.each(otherJobs)('the job for $name ends as its deployment, and names author, project and commit', async (job) => {
  const tag = `v-${randomUUID()}`
  const source = { repository: 'team/shop', sha: tag }
  expect(await runTwice(job, tag)).toMatchObject({ author: 'ada', project: 'team/shop', source })
})

test.each(jobsInClusters)('the job for $name ends as its deployment', async (job) => {
  const tag = `v-${randomUUID()}`
  expect(await runTwice(job, tag)).toMatchObject({ images: [{ tag }] })
})

test('the Task of Tekton has its results, also of a deployment that failed', async () => {
  const [tekton] = jobsInClusters
  if (tekton === undefined) throw new Error('there is no job for Tekton')
  const run = await runJob(tekton, ofRunner(tekton, 'payments', `v-${randomUUID()}`))
  const [id, status] = await Promise.all(
    ['task-id', 'status'].map((name) => readFile(path.join(run.folder, name), 'utf8')),
  )
  expect(status).toBe('failed')
  expect(await world.service.getTask(id ?? '')).toMatchObject({ status })
  const refused = await runJob(tekton, { ...ofRunner(tekton, 'shop', ''), IMAGE: 'no-tag' })
  expect(refused.code).toBe(exitCodes.usage)
})

describe('what the page includes from this project', () => {
  test('the Action deploys with the inputs of the workflow', async () => {
    const { steps } = yamlUnder('GitHub Actions').jobs.deploy
    const { with: documented } = steps[0]
    const images = documented.images.replace('registry.example.com/', 'registry.example/')
    const inputs = {
      ...Object.fromEntries(Object.entries(documented).map(([name, value]) => [name, String(value)])),
      ...{ server: world.service.url, apps: 'shop', images: images.replace(/\$\{\{.+\}\}/, `v-${randomUUID()}`) },
    }
    const end = await runStep('main', { inputs, variables: { WATCHER_TOKEN: await jwt() } })
    expect(end).toMatchObject({ code: 0, outputs: { status: 'deployed' } })
  })

  test('the component has the inputs of the page', async () => {
    const [{ component, inputs }] = yamlUnder('GitLab CI').include
    const file = path.join(checkout, 'templates', /([\w-]+)@[\w.]+$/.exec(component)?.[1] ?? '')
    expect(Object.keys(jobsOfComponent(`${file}.yml`, inputs))).toEqual(['deploy'])
  })
})

test('the page has a row for each exit code', () => {
  const rows = [...textOf('docs/ci.md').matchAll(/^\| (\d+) \| /gm)].map(([, code]) => Number(code))
  expect(rows).toEqual(Object.values(exitCodes))
})
