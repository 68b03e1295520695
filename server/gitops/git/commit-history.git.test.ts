import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type GitHost, startGitHost } from '../../../test/support/start-git-host.ts'
import { writeBackSettings } from '../../../test/support/write-back-settings.ts'
import type { WriteBackPlan } from '../plan/plan-write-back.ts'
import { createCommitHistory } from './commit-history.ts'
import { openGitAccess } from './git-access.ts'

let host: GitHost
let made = 0

beforeAll(async () => {
  host = await startGitHost()
})
afterAll(() => host[Symbol.asyncDispose]())

async function aHistory() {
  const settings = writeBackSettings(host)
  const access = await openGitAccess(settings, process.env.PATH ?? '')
  onTestFinished(async () => {
    await access[Symbol.asyncDispose]()
    await rm(settings.repoCachePath, { recursive: true, force: true })
  })
  return createCommitHistory({ access, nowMs: Date.now, onError: () => {} })
}

async function aRepository(commits: number) {
  made += 1
  const name = `h${made}.git`
  const shas = [await host.createRepository(name, { 'README.md': 'x' })]
  for (let at = 1; at < commits; at += 1) shas.push(await host.commitFiles(name, { [`f${at}`]: 'x' }, `commit ${at}`))
  return { name, url: host.url(name), shas }
}

const reads = (name: string) => host.commands().filter((command) => command === `git-upload-pack ${name}`).length

describe('how a revision stands to our commit', () => {
  test('same, descendant and older are told apart with one fetch', async () => {
    const { name, url, shas } = await aRepository(4)
    const [first = '', second = '', third = '', last = ''] = shas
    const history = await aHistory()
    expect(await history.ancestry(url, second, second)).toBe('same')
    expect(reads(name)).toBe(0)
    expect(await history.ancestry(url, second, last)).toBe('descendant')
    expect(await history.ancestry(url, second, third)).toBe('descendant')
    expect(await history.ancestry(url, second, first)).toBe('unrelated')
    expect(reads(name)).toBe(1)
  })

  test('a branch that was forced elsewhere is unrelated', async () => {
    const { name, url, shas } = await aRepository(2)
    const [, ours = ''] = shas
    await host.git(name, 'branch', 'keep', 'main')
    await host.git(name, 'update-ref', 'refs/heads/main', 'main~1')
    const other = await host.commitFiles(name, { other: 'x' })
    expect(await (await aHistory()).ancestry(url, ours, other)).toBe('unrelated')
  })

  test('commits of our own pushes are descendants without a question to the host: 50 applications at once', async () => {
    const { name, url, shas } = await aRepository(1)
    const history = await aHistory()
    const base = shas[0] ?? ''
    const ours = Array.from({ length: 50 }, (_, at) => at.toString(16).padStart(40, '0'))
    history.recordPush(url, base, ours.slice(0, 30))
    history.recordPush(url, ours[29] ?? '', ours.slice(30))
    for (const commit of ours) expect(await history.ancestry(url, commit, ours[49] ?? '')).toMatch(/same|descendant/)
    expect(await history.ancestry(url, ours[40] ?? '', ours[3] ?? '')).toBe('unrelated')
    expect(reads(name)).toBe(0)
  })

  test('a commit that came later is fetched when it is asked for', async () => {
    const { name, url, shas } = await aRepository(2)
    const [first = '', second = ''] = shas
    const history = await aHistory()
    expect(await history.ancestry(url, first, second)).toBe('descendant')
    const third = await host.commitFiles(name, { later: 'x' })
    expect(await history.ancestry(url, second, third)).toBe('descendant')
  })

  test.for([
    { what: 'a host that is away', url: 'ssh://git@127.0.0.1:1/x.git' },
    { what: 'an address that is not allowed', url: 'file:///etc' },
  ])('$what: unknown, never an exception', async ({ url }) => {
    const history = await aHistory()
    expect(await history.ancestry(url, 'a'.repeat(40), 'b'.repeat(40))).toBe('unknown')
  })

  test('a revision that nobody has, or a branch name: unknown', async () => {
    const { url, shas } = await aRepository(1)
    const history = await aHistory()
    expect(await history.ancestry(url, shas[0] ?? '', 'b'.repeat(40))).toBe('unknown')
    expect(await history.ancestry(url, shas[0] ?? '', 'main')).toBe('unknown')
    expect(await history.ancestry(url, shas[0] ?? '', '--output=/tmp/x')).toBe('unknown')
  })
})

describe('the override file at a revision', () => {
  test('tells the tags by image; unknown where the host is away', async () => {
    const { name, url } = await aRepository(1)
    const plan: WriteBackPlan = {
      app: 'shop',
      repository: url,
      address: url,
      branch: 'main',
      file: 'apps/x.yaml',
      parameters: [
        { name: 'image.tag', value: 'v2', image: 'registry.example/shop' },
        { name: 'job.tag', value: 'v2', image: 'registry.example/job' },
      ],
      sourceParameters: [],
      message: 'x',
    }
    const without = await host.git(name, 'rev-parse', 'main')
    const revision = await host.commitFiles(name, {
      'apps/x.yaml': 'helm: {parameters: [{name: image.tag, value: "v3"}, {name: other, value: a}]}\n',
    })
    const history = await aHistory()
    expect(await history.overrideAt(plan, revision)).toEqual(new Map([['registry.example/shop', 'v3']]))
    expect(await history.overrideAt(plan, without)).toEqual(new Map())
    expect(await history.overrideAt(plan, 'c'.repeat(40))).toBeUndefined()
    expect(await history.overrideAt({ ...plan, repository: 'ssh://git@127.0.0.1:1/x.git' }, revision)).toBeUndefined()
  })
})

describe('trailers and last changes', () => {
  test('are found between two commits', async () => {
    const { name, url, shas } = await aRepository(1)
    const base = shas[0] ?? ''
    const ours = await host.commitFiles(name, { 'a.yaml': '1' }, 'x\n\nWatcher-Task: 4711\n')
    const tip = await host.commitFiles(name, { 'b.yaml': '1' }, 'Watcher-Task: 99 is only talk')
    const history = await aHistory()
    expect(await history.trailersBetween(url, base, tip)).toEqual(new Map([['4711', ours]]))
    expect(await history.lastChange(url, tip, 'a.yaml')).toBe(ours)
  })
})
