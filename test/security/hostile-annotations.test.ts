import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isFinal } from '../../contract/task-status.ts'
import { runGit } from '../../simulator/git-host/run-git.ts'
import { withoutLimits } from '../support/service.ts'
import { startWorld, type World } from '../support/world.ts'
import {
  branchPayloads,
  fileNamePayloads,
  type Payloads,
  pathPayloads,
  repositoryPayloads,
} from './hostile-annotations.ts'

const folder = await mkdtemp(path.join(tmpdir(), 'hostile-annotations-'))
const markers = path.join(folder, 'markers')
await mkdir(markers)
let marked = 0
const marker = () => path.join(markers, String(marked++))

/** What git, ssh and shells would take from the environment of the service, if they saw it. */
const hostileEnvironment = () => ({
  HOME: folder,
  GIT_ALLOW_PROTOCOL: 'ext:fd:file:git:http:https:ssh',
  GIT_SSH: '/bin/false',
  GIT_SSH_COMMAND: `touch ${marker()}`,
  GIT_PROXY_COMMAND: `touch ${marker()}`,
  GIT_EXTERNAL_DIFF: `touch ${marker()}`,
  GIT_ASKPASS: `touch ${marker()}`,
  SSH_ASKPASS: `touch ${marker()}`,
  GIT_CONFIG_COUNT: '3',
  GIT_CONFIG_KEY_0: 'protocol.ext.allow',
  GIT_CONFIG_VALUE_0: 'always',
  GIT_CONFIG_KEY_1: 'core.sshCommand',
  GIT_CONFIG_VALUE_1: `touch ${marker()}`,
  GIT_CONFIG_KEY_2: 'core.fsmonitor',
  GIT_CONFIG_VALUE_2: `touch ${marker()}`,
})

let world: World
let first: string
const git = (...args: string[]) => runGit(path.join(repositories(), 'gitops.git'), args)
const repositories = () => path.resolve(path.dirname(world.simulator.git.knownHostsPath), '../repositories')
const ground = () => ({ marker, port: world.simulator.git.host.port, repositories: repositories() })

beforeAll(async () => {
  world = await startWorld({ settings: { ...withoutLimits, ...hostileEnvironment() } })
  first = (await git('rev-parse', 'main')).trim()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

type Result = { payload: string; app: string; commit: string | undefined; reason: string }
const results: Result[] = []
let applications = 0

/** Deploys an application for each payload, which its annotation `name` has; all else of it is good. */
async function deployWith(name: string, payloads: readonly string[]): Promise<readonly Result[]> {
  const left = payloads.values()
  const found: Result[] = []
  const work = async () => {
    for (const payload of left) found.push(await deployOne(name, payload))
  }
  await Promise.all(Array.from({ length: 12 }, work))
  results.push(...found)
  return found
}

async function deployOne(name: string, payload: string): Promise<Result> {
  const { simulator, service } = world
  const app = `hostile-${applications++}`
  const source = { repository: 'gitops', path: 'apps/shop', targetRevision: 'main' }
  await simulator.control.createApplication({
    name: app,
    sources: [source, { ...source, path: 'apps/other' }],
    annotations: {
      'watcher/managed': 'true',
      'watcher/managed-images': `main=registry.example/${app}`,
      'watcher/main.helm.image-tag': 'image.tag',
      'watcher/write-back-repo': simulator.git.url('gitops'),
      'watcher/write-back-branch': 'main',
      'watcher/write-back-path': 'apps/shop',
      [`watcher/${name}`]: payload,
    },
  })
  const id = await world.deploy(app, 'v2')
  const task = await service.waitForTask(id, ({ status, commit }) => commit !== undefined || isFinal(status))
  return { payload, app, commit: task.commit, reason: task.status_reason ?? '' }
}

const refused = (found: readonly Result[]) => found.filter(({ commit }) => commit === undefined)

const forbidden = /^(?:\.\.|\.git[ .]*|git~\d|\.git(?:modules|attributes))$/i

/** Of each kind some; the unit table of server/write-back/plan/hostile-annotations.test.ts has all. */
const someOf = (payloads: Payloads) => payloads.flatMap(([, all]) => all.filter((_, at) => at % 20 === 0))

test('a hostile application runs no command and touches no file but its own (T10, T14, B66 to B69)', async () => {
  const kinds = {
    'write-back-repo': repositoryPayloads(ground()),
    'write-back-branch': branchPayloads(ground()),
    'write-back-path': pathPayloads(ground()),
    'write-back-filename': fileNamePayloads(ground()),
    'write-back-target': [...pathPayloads(ground()), ...fileNamePayloads(ground())].map(
      ([row, all]) => [row, all.flatMap((one) => [`helmvalues:${one}`, `helmvalues:/${one}/values.yaml`])] as const,
    ),
  }
  for (const [name, payloads] of Object.entries(kinds)) await deployWith(name, someOf(payloads))
  const landed = results.filter(({ commit }) => commit !== undefined)
  const log = await git('log', '-z', '--format=%x01%H', '--name-status', '--no-renames', `${first}..main`)
  const changes = new Map(
    log
      .split('\u0001')
      .slice(1)
      .map((entry) => {
        const [commit = '', ...files] = entry.split('\0').map((part) => part.trim())
        return [commit, files.filter((part) => part !== '')] as const
      }),
  )
  const foreign = landed.filter(({ app, payload, commit = '' }) => {
    const [status, file = '', ...more] = changes.get(commit) ?? []
    const parts = file.split('/')
    const isOwn = [`.argocd-source-${app}.yaml`, payload, payload.trim()].includes(parts.at(-1) ?? '')
    return !isOwn || more.length > 0 || status !== 'A' || parts.some((part) => forbidden.test(part))
  })
  const refs = (await git('for-each-ref', '--format=%(refname)')).trim().split('\n')
  const left = await readdir(markers)
  console.info(
    `${results.length} payloads in five annotations: ${refused(results).length} refused, ${landed.length} committed, ` +
      `${left.length} marker files, ${refs.length - 1} foreign refs, ${foreign.length} foreign files`,
  )
  expect(results.length).toBeGreaterThan(25)
  expect(landed.length).toBeGreaterThan(0)
  expect(changes.size).toBe(landed.length)
  expect({ foreign, refs, left }).toEqual({ foreign: [], refs: ['refs/heads/main'], left: [] })
  expect(world.service.isRunning()).toBe(true)
})
