import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { exitCodes } from '../../contract/exit-codes.ts'
import { type GitLabJob, jobsOfComponent } from '../support/gitlab-component.ts'
import { test } from '../support/shared-world.ts'
import { deployToken, type World } from '../support/world.ts'

const checkout = fileURLToPath(new URL('../../', import.meta.url))
const client = path.join(checkout, 'cli/dist/deployment-watcher.mjs')
const component = path.join(checkout, 'templates/deploy.yml')
const app = (name: string) => `gitlab-${name}`

let world: World
test.beforeAll(async ({ world: shared }) => {
  world = shared
  await world.addApplications(...['well', 'broken'].map(app))
  const except = [`registry.example/${app('broken')}:v0`]
  world.simulator.control.overridePods(app('broken'), { newPods: 'image-pull-error', except })
})

const inputsOf = (name: string) => ({
  server: world.service.url,
  apps: app(name),
  images: `registry.example/${app(name)}:$CI_COMMIT_SHA`,
})
const jobOf = (inputs: Parameters<typeof jobsOfComponent>[1]): GitLabJob => {
  const [job] = Object.values(jobsOfComponent(component, inputs))
  if (job === undefined) throw new Error('the component has no job')
  return job
}

/** Runs the script of a job as GitLab's runner does, which expands variables of the job in its variables. */
async function runJob({ script, variables }: GitLabJob, given: Readonly<Record<string, string>> = {}) {
  const work = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-gitlab-'))
  const ofJob = {
    ...{ CI: 'true', GITLAB_CI: 'true', GITLAB_USER_LOGIN: 'ada', CI_PROJECT_PATH: 'team/shop' },
    CI_COMMIT_SHA: `sha-${randomUUID()}`,
    ...given,
  }
  const expanded = Object.entries(variables).map(([name, value]) => {
    const text = value.replace(/\$\{?(CI_\w+)\}?/g, (_, other: keyof typeof ofJob) => ofJob[other] ?? '')
    return [name, text]
  })
  const file = path.join(work, 'script.sh')
  await writeFile(
    file,
    script.join('\n').replace(/npx --yes deployment-watcher@\S+/, `"${process.execPath}" "${client}"`),
  )
  const child = spawn('sh', ['-e', file], {
    cwd: work,
    env: { PATH: process.env.PATH, WATCHER_TOKEN: deployToken, ...ofJob, ...Object.fromEntries(expanded), ...given },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject))
  const report = await readFile(path.join(work, 'deployment-watcher.env'), 'utf8')
  const isBroken = existsSync(path.join(work, 'broken'))
  await rm(work, { recursive: true })
  return { code, log: Buffer.concat(chunks).toString(), report, isBroken }
}

describe('the component for GitLab', () => {
  test('deploys, and reports it to later jobs', async () => {
    const inputs = { environment: 'production', timeout: '5m', 'wait-for-app': '30s', 'cancel-on-interrupt': true }
    const { code, log, report } = await runJob(jobOf({ ...inputsOf('well'), ...inputs }))
    expect(log).toMatch(/section_start:.*\r.*Deployments\n(?:.*\n)*\+\S+ +deployed\n/)
    expect(code).toBe(0)
    const [, id = ''] = /^DEPLOYMENT_TASK_IDS=(.+)$/m.exec(report) ?? []
    expect(report).toMatch(
      new RegExp(
        `^DEPLOYMENT_TASK_IDS=${id}\nDEPLOYMENT_STATUS=deployed\nDEPLOYMENT_CAUSE=\nDEPLOYMENT_COMMIT=[0-9a-f]{40}\n` +
          `DEPLOYMENT_URL=${world.service.url}/task/${id}\n$`,
      ),
    )
    expect(await world.service.getTask(id)).toMatchObject({
      ...{ environment: 'production', timeout: 300, wait_for_app: 30 },
      images: [{ image: `registry.example/${app('well')}`, tag: expect.stringMatching(/^sha-/) }],
    })
  })

  test('several applications: the report tells of the one that went worst', async () => {
    const inputs = { ...inputsOf('well'), apps: `${app('none')} ${app('broken')}`, images: inputsOf('broken').images }
    const { code, report } = await runJob(jobOf(inputs))
    expect(code).toBe(exitCodes.failed)
    expect(report).toMatch(
      /^DEPLOYMENT_TASK_IDS=[^,]{36},[^,]{36}\nDEPLOYMENT_STATUS=failed\nDEPLOYMENT_CAUSE=image_pull\n/,
    )
  })

  test('reports nothing where nothing was deployed, with the exit code of the client', async () => {
    const { code, report } = await runJob(jobOf({ ...inputsOf('well'), images: 'registry.example/shop' }))
    expect(code).toBe(exitCodes.usage)
    expect(report).toMatch(/^DEPLOYMENT_TASK_IDS=\nDEPLOYMENT_STATUS=\n/)
  })

  test('a variable that holds a command is a text', async () => {
    const hostile = `$(touch broken);\`touch broken\`"';*`
    const job = jobOf(inputsOf('well'))
    const run = await runJob(job, { WATCHER_APPS: hostile, WATCHER_IMAGES: 'a:1', WATCHER_ENVIRONMENT: hostile })
    expect(run).toMatchObject({ isBroken: false, code: expect.not.toSatisfy((code) => code === 0) })
    expect(job.script.join('\n')).not.toContain('$[[')
  })
})

describe('GitLab refuses an input that would be more than a text', () => {
  test.for([
    ['server', 'watcher.example'],
    ['server', 'https://watcher.example/'],
    ['server', 'https://watcher.example"\nscript: x'],
    ['apps', 'shop\n  script: x'],
    ['apps', '"'],
    ['images', 'shop:1"'],
    ['images', 'shop:$(x)'],
    ['environment', "'; x"],
    ['timeout', 'soon'],
    ['on-failure', 'pray'],
    ['job', 'a"b'],
    ['cancel-on-interrupt', 'true'],
  ] as const)('%s: %j', ([name, value]) => {
    expect(() => jobOf({ ...inputsOf('well'), [name]: value })).toThrow(`input ${name}`)
  })

  test('the address of the service is the audience of its ID token', () => {
    expect(jobOf(inputsOf('well'))).toMatchObject({
      id_tokens: { WATCHER_ID_TOKEN: { aud: world.service.url } },
      interruptible: false,
      allow_failure: { exit_codes: [exitCodes.cancelled] },
    })
  })
})
