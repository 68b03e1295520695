import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../test/support/eventually.ts'
import { startDemo } from './demo.ts'
import type { Application } from './model/application.ts'
import { chartFiles, overrideFile } from './model/example-repository.ts'
import { fastTimes } from './model/simulator-times.ts'
import { type Simulator, startSimulator } from './simulator.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulator-'))
})
const children = new Set<ChildProcess>()
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL') // those of a test that failed half-way
  children.clear()
  await rm(folder, { recursive: true, force: true })
})

async function read(simulator: Pick<Simulator, 'argoUrl' | 'argoToken'>, path: string): Promise<Response> {
  return fetch(`${simulator.argoUrl}/api/v1/applications${path}`, {
    headers: { Authorization: `Bearer ${simulator.argoToken}` },
  })
}

async function readApplication(
  simulator: Pick<Simulator, 'argoUrl' | 'argoToken'>,
  path: string,
): Promise<Application> {
  return (await (await read(simulator, path)).json()) as Application // the simulator's own object, as it came over the wire
}

describe('a simulator with a real repository', () => {
  test('a commit rolls out after a refresh, and the calls are counted', async () => {
    await using simulator = await startSimulator({ folder, times: fastTimes, seed: 1 })
    await simulator.git.createRepository('gitops', chartFiles('apps/shop'))
    await simulator.control.createApplication({
      name: 'shop',
      source: { repository: 'gitops', path: 'apps/shop', targetRevision: 'main' },
    })
    const commit = await simulator.git.commit('gitops', { 'apps/shop/.argocd-source-shop.yaml': overrideFile('1.0.1') })
    expect((await readApplication(simulator, '/shop?refresh=normal')).status.sync).toMatchObject({
      status: 'OutOfSync',
      revision: commit,
    })
    await eventually(async () => {
      const { status } = await readApplication(simulator, '/shop')
      expect(status).toMatchObject({
        sync: { status: 'Synced' },
        health: { status: 'Healthy' },
        summary: { images: ['registry.example/shop:1.0.1'] },
      })
    })
    expect(simulator.control.callLog().filter(({ kind }) => kind === 'refresh')).toMatchObject([
      { status: 200, application: 'shop' },
    ])
    expect(await simulator.control.truth('shop')).toMatchObject({
      isSynced: true,
      isRolledOut: true,
      desiredRevisions: [commit],
    })
  })

  test.for([
    { action: { kind: 'error', status: 403 }, status: 403 },
    { action: { kind: 'error', status: 401 }, status: 401 },
    { action: { kind: 'error', status: 500 }, status: 500 },
    { action: { kind: 'html', status: 200 }, status: 200 },
    { action: { kind: 'html', status: 502 }, status: 502 },
  ] as const)('a fault hits as many calls as it says: $action', async ({ action, status }) => {
    await using simulator = await startSimulator({ folder, times: fastTimes })
    await simulator.git.createRepository('gitops', chartFiles('shop'))
    await simulator.control.createApplication({ name: 'shop', source: { repository: 'gitops', path: 'shop' } })
    simulator.control.faults.http.add({ calls: ['get'], times: 1, action })
    const first = await read(simulator, '/shop')
    expect(first.status).toBe(status)
    expect(first.headers.get('content-type')).toContain(action.kind === 'html' ? 'text/html' : 'application/json')
    expect((await readApplication(simulator, '/shop')).metadata.name).toBe('shop')
  })

  test('an error on connecting a stream comes in the envelope of streams', async () => {
    await using simulator = await startSimulator({ folder, times: fastTimes })
    simulator.control.faults.http.add({ calls: ['stream'], times: 1, action: { kind: 'error', status: 401 } })
    const headers = { Authorization: `Bearer ${simulator.argoToken}`, Accept: 'text/event-stream' }
    const answer = await fetch(`${simulator.argoUrl}/api/v1/stream/applications`, { headers })
    expect(answer.status).toBe(401)
    expect(await answer.text()).toMatch(/^data: \{"error":\{"grpc_code":16,"http_code":401,.*\}\} \n\n$/)
  })

  test('a branch that steps back is followed, as the controller follows a replicated Git host', async () => {
    await using simulator = await startSimulator({ folder, times: fastTimes })
    await simulator.git.createRepository('gitops', chartFiles('shop'))
    const first = (await simulator.git.head('gitops')) ?? ''
    await simulator.control.createApplication({ name: 'shop', source: { repository: 'gitops', path: 'shop' } })
    const second = await simulator.git.commit('gitops', { README: 'words' })
    expect((await readApplication(simulator, '/shop?refresh=normal')).status.sync.revision).toBe(second)
    await simulator.git.setHead('gitops', 'main', first)
    expect((await readApplication(simulator, '/shop?refresh=normal')).status.sync.revision).toBe(first)
  })

  test('the demo: the good application is healthy and the bad Pod is in the tree soon after the push', async () => {
    await using simulator = await startSimulator({ folder })
    await startDemo(simulator)
    const apps = ['shop', 'payments']
    await simulator.git.commit(
      'gitops',
      Object.fromEntries(apps.map((app) => [`apps/${app}/.argocd-source-${app}.yaml`, overrideFile('2.0.0')])),
    )
    await Promise.all(apps.map((app) => read(simulator, `/${app}?refresh=normal`)))
    await eventually(async () =>
      expect(await (await read(simulator, '/payments/resource-tree')).text()).toContain('Back-off pulling image'),
    )
    await eventually(async () => {
      const { status } = await readApplication(simulator, '/shop')
      expect(status).toMatchObject({ sync: { status: 'Synced' }, health: { status: 'Healthy' } })
      expect(status.summary.images).toContain('registry.example/shop:2.0.0')
    })
  })

  test('a refresh that never ends is answered by the deadline, and the annotation stays', async () => {
    await using simulator = await startSimulator({ folder, times: fastTimes })
    await simulator.git.createRepository('gitops', chartFiles('shop'))
    await simulator.control.createApplication({ name: 'shop', source: { repository: 'gitops', path: 'shop' } })
    simulator.control.faults.controller.hangRefresh.add('argocd/shop')
    const headers = { Authorization: `Bearer ${simulator.argoToken}`, 'Grpc-Timeout': '200m' }
    const answer = await fetch(`${simulator.argoUrl}/api/v1/applications/shop?refresh=normal`, { headers })
    expect(answer.status).toBe(504)
    expect(simulator.control.application('shop')?.metadata.annotations).toMatchObject({
      'argocd.argoproj.io/refresh': 'normal',
    })
  })

  test('streams can be cut in four ways, stalled, and left without an event', async () => {
    await using simulator = await startSimulator({ folder, times: fastTimes })
    await simulator.git.createRepository('gitops', chartFiles('shop'))
    await simulator.control.createApplication({ name: 'shop', source: { repository: 'gitops', path: 'shop' } })
    for (const ending of ['eof', 'reset', 'mid-line', 'unfinished'] as const) {
      const stream = await openStream(simulator)
      await stream.untilText('"ADDED"')
      simulator.argo.endStreams(ending)
      expect(await stream.ended).toBe(ending === 'eof' ? 'clean' : 'broken')
    }
    const silent = await openStream(simulator)
    await silent.untilText('"ADDED"')
    simulator.argo.stallStreams()
    const lively = await openStream(simulator)
    await read(simulator, '/shop?refresh=normal')
    await lively.untilText('"MODIFIED"')
    expect(silent.text()).not.toContain('"MODIFIED"')
    const [replica] = simulator.controller.replicas
    replica?.loseEvents(100)
    const late = await openStream(simulator)
    await read(simulator, '/shop')
    simulator.control.editApplication('shop', (current) => ({
      ...current,
      metadata: { ...current.metadata, labels: { lost: 'yes' } },
    }))
    await eventually(() => expect(replica?.get('argocd/shop')?.metadata.labels).toEqual({ lost: 'yes' }))
    expect(late.text()).not.toContain('"lost"')
    simulator.argo.endStreams('eof')
    await Promise.all([silent.ended, lively.ended, late.ended])
  })

  test('a replica that is held answers List from the past, and catches up', async () => {
    await using simulator = await startSimulator({ folder, times: fastTimes })
    await simulator.git.createRepository('gitops', chartFiles('shop'))
    await simulator.control.createApplication({ name: 'shop', source: { repository: 'gitops', path: 'shop' } })
    const [replica] = simulator.controller.replicas
    replica?.hold()
    simulator.control.editApplication('shop', (current) => ({
      ...current,
      metadata: { ...current.metadata, labels: { newer: 'yes' } },
    }))
    expect((await readApplication(simulator, '/shop')).metadata.labels).toEqual({ newer: 'yes' })
    expect(await (await read(simulator, '')).text()).not.toContain('newer')
    replica?.release('relist')
    expect(await (await read(simulator, '')).text()).toContain('newer')
  })
})

/** Reads a stream in the background. */
async function openStream({ argoUrl, argoToken }: Pick<Simulator, 'argoUrl' | 'argoToken'>) {
  const response = await fetch(`${argoUrl}/api/v1/stream/applications`, {
    headers: { Authorization: `Bearer ${argoToken}`, Accept: 'text/event-stream' },
  })
  let text = ''
  async function readAll(): Promise<'clean' | 'broken'> {
    try {
      for await (const part of response.body ?? []) text += Buffer.from(part).toString()
      return 'clean'
    } catch {
      return 'broken'
    }
  }
  const ended = readAll()
  return {
    ended,
    text: () => text,
    untilText: (wanted: string) => eventually(() => expect(text).toContain(wanted)),
  }
}

type Ready = {
  argoUrl: string
  argoToken: string
  repository: string
  controlUrl?: string
  applications: { name: string }[]
  missing: string
}

function startMain(more: readonly string[] = []): {
  child: ChildProcess
  ready: Promise<Ready>
  exit: Promise<number | null>
} {
  const child = spawn(process.execPath, ['simulator/main.ts', '--demo', '--dir', folder, ...more], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.add(child)
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const ready = new Promise<Ready>((resolve, reject) => {
    if (child.stdout) createInterface(child.stdout).once('line', (line) => resolve(JSON.parse(line)))
    child.on('exit', () => reject(new Error('The simulator ended before it was ready')))
  })
  return { child, ready, exit }
}

describe('the demo as a process', () => {
  test('says in one line where everything is, keeps its repository over a restart, and stops on SIGTERM', async () => {
    const first = startMain()
    const ready = await first.ready
    expect(ready.applications.map(({ name }) => name)).toEqual(['shop', 'payments'])
    const before = await readApplication(ready, '/shop')
    expect(before.metadata.annotations).toMatchObject({
      'watcher/managed': 'true',
      'watcher/shop.helm.image-tag': 'image.tag',
    })
    expect((await read(ready, `/${ready.missing}`)).status).toBe(403)
    first.child.kill('SIGTERM')
    expect(await first.exit).toBe(0)
    const second = startMain()
    const after = await readApplication(await second.ready, '/shop')
    expect(after.status.sync.revision).toBe(before.status.sync.revision)
    second.child.kill('SIGINT')
    expect(await second.exit).toBe(0)
  })

  test('is driven from outside over its control port', async () => {
    const { child, ready, exit } = startMain(['--control'])
    const { controlUrl = '', ...rest } = await ready
    const command = async (name: string, body: unknown) => {
      const answer = await fetch(`${controlUrl}/${name}`, { method: 'POST', body: JSON.stringify(body) })
      return { status: answer.status, body: await answer.text() }
    }
    await command('createRepository', { name: 'other', files: chartFiles('cart') })
    const created = { name: 'cart', namespace: 'team-a', sources: [{ repository: 'other', path: 'cart' }] }
    expect(await command('createApplication', created)).toMatchObject({ status: 200 })
    expect((await readApplication(rest, '/cart?appNamespace=team-a')).status.summary.images).toEqual([
      'registry.example/cart:1.0.0',
    ])
    await command('addHttpFault', { calls: ['get'], times: 1, action: { kind: 'error', status: 500 } })
    expect((await read(rest, '/shop')).status).toBe(500)
    expect((await command('truth', { application: 'shop' })).body).toContain('"isRolledOut":true')
    expect((await command('callLog', {})).body).toContain('"kind":"get"')
    expect((await command('commit', { repository: 7 })).status).toBe(400)
    expect((await command('nonsense', {})).status).toBe(404)
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
  })

  test('stops with its standard input if asked to', async () => {
    const { child, ready, exit } = startMain(['--stop-with-stdin'])
    await ready
    child.stdin?.end()
    expect(await exit).toBe(0)
  })
})
