import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runGit } from '../../../../simulator/git-host/run-git.ts'
import { countedGit } from '../../../../test/support/counted-git.ts'
import { type GitHost, startGitHost } from '../../../../test/support/start-git-host.ts'
import { usedHeap } from '../../../../test/support/used-heap.ts'
import { writeBackSettings } from '../../../../test/support/write-back-settings.ts'
import type { WriteBackPlan } from '../../plan/plan-write-back.ts'
import { openGitAccess } from '../access/git-access.ts'
import { createCommitHistory } from './commit-history.ts'

let host: GitHost
let made = 0

beforeAll(async () => {
  host = await startGitHost()
})
afterAll(async () => {
  await host[Symbol.asyncDispose]()
})

async function anAccess(searchPath = process.env.PATH ?? '') {
  const settings = writeBackSettings(host)
  const access = await openGitAccess(settings, searchPath)
  onTestFinished(async () => {
    await access[Symbol.asyncDispose]()
    await rm(settings.repoCachePath, { recursive: true, force: true })
  })
  return access
}

const aHistory = async () => createCommitHistory({ access: await anAccess(), nowMs: Date.now, onError: () => {} })

/** A history whose git commands are written down. */
async function aCountedHistory() {
  const { searchPath, commands } = await countedGit()
  const access = await anAccess(searchPath)
  return { access, history: createCommitHistory({ access, nowMs: Date.now, onError: () => {} }), commands }
}

const cloneIn = async (folder: string) => (await readdir(folder)).find((name) => name.startsWith('h')) ?? ''

async function aRepository(commits: number) {
  made += 1
  const name = `h${made}.git`
  const shas = [await host.createRepository(name, { 'README.md': 'x' })]
  for (let at = 1; at < commits; at += 1) shas.push(await host.commitFiles(name, { [`f${at}`]: 'x' }, `commit ${at}`))
  return { name, url: host.url(name), shas }
}

const aPlan = (repository: string): WriteBackPlan => ({
  app: 'shop',
  repository,
  address: repository,
  branch: 'main',
  file: 'apps/x.yaml',
  tool: 'helm',
  entries: [
    { name: 'image.tag', value: 'v2', image: 'registry.example/shop' },
    { name: 'job.tag', value: 'v2', image: 'registry.example/job' },
  ],
  sourceEntries: [],
  message: 'x',
})

/** A commit with the tree of its first parent, and those words for its author. */
async function aCommit(name: string, parents: string | readonly string[], author = 'a <a@example> 1234567890 +0000') {
  const all = [parents].flat()
  const tree = await host.git(name, 'rev-parse', `${all[0]}^{tree}`)
  const lines = [`tree ${tree}`, ...all.map((parent) => `parent ${parent}`), `author ${author}`, `committer ${author}`]
  const options = ['-t', 'commit', '-w', '--literally', '--stdin']
  const text = [...lines, '', 'x', ''].join('\n')
  const commit = (await runGit(host.directory(name), ['hash-object', ...options], text)).trim()
  await host.git(name, 'update-ref', 'refs/heads/main', commit)
  return commit
}

const aMerge = (name: string, parents: readonly string[]) => aCommit(name, parents)

async function manyCommits(name: string, count: number): Promise<string> {
  const commit = 'commit refs/heads/main\ncommitter a <a@example> 1234567890 +0000\ndata 1\nx\n'
  const stream = Array.from({ length: count }, (_, at) => (at === 0 ? `${commit}from refs/heads/main^0\n` : commit))
  await runGit(host.directory(name), ['fast-import', '--quiet', '--force'], stream.join('\n'))
  return host.git(name, 'rev-parse', 'main')
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

  test('beside a rival: a few git processes for each of its commits, however many questions at once', async () => {
    const { name, url, shas } = await aRepository(1)
    const { history, commands } = await aCountedHistory()
    const plans = ['a', 'b', 'c'].map((file) => ({ ...aPlan(url), file }))
    const commits = [...shas]
    for (let at = 0; at < 8; at += 1) {
      const rival = await host.commitFiles(name, { rival: `${at}` })
      commits.push(rival)
      const asked = [
        ...commits.map((one) => history.ancestry(url, one, rival)),
        history.ancestry(url, rival, shas[0] ?? ''),
      ]
      const read = plans.map((plan) => history.overrideAt(plan, rival))
      expect(new Set(await Promise.all(asked))).toEqual(new Set(['same', 'descendant', 'unrelated']))
      expect(await Promise.all(read)).toEqual(plans.map(() => new Map()))
    }
    const used = Map.groupBy(await commands(), (command) => command)
    expect(used.get('fetch')).toHaveLength(8)
    expect(used.get('cat-file')).toHaveLength(1)
    expect(used.get('rev-list')?.length).toBeLessThanOrEqual(8 * 8)
  })

  test('all spellings of a repository share its fetches', async () => {
    const { name, url, shas } = await aRepository(2)
    const { history, commands } = await aCountedHistory()
    const [first = '', second = ''] = shas
    for (const spelled of [url, `${url.replace(/\.git$/, '')}`, `${url}/`]) {
      expect(await history.ancestry(spelled, first, second)).toBe('descendant')
      expect(await history.overrideAt(aPlan(spelled), second)).toEqual(new Map())
    }
    expect((await commands()).filter((command) => command !== 'rev-list')).toEqual(['fetch', 'cat-file'])
    expect(reads(name)).toBe(2) // the second for a tree
  })

  test('a damaged clone is made again once, however many questions meet the damage', async () => {
    const { name, url, shas } = await aRepository(1)
    const { history, commands, access } = await aCountedHistory()
    const files = Array.from({ length: 10 }, (_, at) => `apps/${at}.yaml`)
    const revision = await host.commitFiles(name, Object.fromEntries(files.map((file) => [file, 'x: y\n'])))
    expect(await history.ancestry(url, shas[0] ?? '', revision)).toBe('descendant')
    await rm(path.join(access.folder, await cloneIn(access.folder), 'objects'), { recursive: true })
    const read = files.map((file) => history.overrideAt({ ...aPlan(url), file }, revision))
    expect(await Promise.all(read)).toEqual(files.map(() => new Map()))
    expect((await commands()).filter((command) => command === 'fetch')).toHaveLength(2)
  })

  test('through merges and far back, beyond the first thousand commits', async () => {
    const { name, url, shas } = await aRepository(1)
    const first = shas[0] ?? ''
    const tip = await manyCommits(name, 1_200)
    const side = await aMerge(name, [first])
    const merge = await aMerge(name, [tip, side])
    const history = await aHistory()
    expect(await history.ancestry(url, tip, merge)).toBe('descendant')
    expect(await history.ancestry(url, side, merge)).toBe('descendant')
    expect(await history.ancestry(url, side, tip)).toBe('unrelated')
    expect(await history.ancestry(url, first, tip)).toBe('descendant')
  })

  test('commits whose times are wrong', async () => {
    const { name, url, shas } = await aRepository(2)
    const [, ours = ''] = shas
    let tip = ours
    for (let at = 0; at < 12; at += 1) tip = await aCommit(name, tip, 'a <a@example> 1000000000 +0000')
    expect(await (await aHistory()).ancestry(url, ours, tip)).toBe('descendant')
  })

  test('a commit of a branch that is gone: unknown, and the others are told all the same', async () => {
    const { name, url, shas } = await aRepository(3)
    const [first = '', second = '', third = ''] = shas
    const gone = await host.commitFiles(name, { gone: 'x' })
    await host.git(name, 'update-ref', 'refs/heads/main', third)
    const history = await aHistory()
    const asked = [gone, first, second].map((commit) => history.ancestry(url, commit, third))
    expect(await Promise.all(asked)).toEqual(['unknown', 'descendant', 'descendant'])
  })

  test('commits that git only dislikes do not make the history unreadable', async () => {
    const { name, url, shas } = await aRepository(1)
    const odd = await aCommit(name, shas[0] ?? '', 'Old Import <old@example> 1234567890 +051800')
    const padded = await aCommit(name, odd, 'Old Import<old> 01234567890 +0000')
    const history = await aHistory()
    expect(await history.ancestry(url, odd, padded)).toBe('descendant')
    expect(await history.overrideAt(aPlan(url), padded)).toEqual(new Map())
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
    const plan = aPlan(url)
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

  test('of many revisions takes the memory of their tags', async () => {
    const { name, url } = await aRepository(1)
    const parameters = Array.from(
      { length: 400 },
      (_, at) => `    - {name: other.p${at}, value: ${`${at}x`.repeat(150)}}\n`,
    )
    const file = (tag: string) => `helm:\n  parameters:\n    - {name: image.tag, value: ${tag}}\n${parameters.join('')}`
    const history = await aHistory()
    const read = async (tag: string) => {
      const revision = await host.commitFiles(name, { 'apps/x.yaml': file(tag) })
      expect(await history.overrideAt(aPlan(url), revision)).toEqual(new Map([['registry.example/shop', tag]]))
    }
    await read('first')
    const before = usedHeap()
    for (let at = 0; at < 15; at += 1) await read(`tag-${at}`)
    expect(usedHeap() - before).toBeLessThan(1_500_000)
  })

  test('T19 is not read where it is too large', async () => {
    const { name, url } = await aRepository(1)
    const revision = await host.commitFiles(name, { 'apps/x.yaml': `key: ${'x'.repeat(32_000_000)}\n` })
    const errors: string[] = []
    const onError = (_: string, error: unknown) => void errors.push(String(error))
    const history = createCommitHistory({ access: await anAccess(), nowMs: Date.now, onError })
    expect(await history.overrideAt(aPlan(url), revision)).toBeUndefined()
    expect(errors).toEqual([expect.stringContaining(`the file apps/x.yaml at ${revision} is larger than 256 KiB`)])
  })

  test('that cannot be read is reported once for each revision', async () => {
    const { name, url } = await aRepository(1)
    const revision = await host.commitFiles(name, { 'apps/x.yaml': 'helm: [\n' })
    const errors: string[] = []
    const onError = (_: string, error: unknown) => void errors.push(String(error))
    const history = createCommitHistory({ access: await anAccess(), nowMs: Date.now, onError })
    for (let at = 0; at < 3; at += 1) expect(await history.overrideAt(aPlan(url), revision)).toBeUndefined()
    expect(errors).toEqual([expect.stringContaining(`the file apps/x.yaml at ${revision} is not YAML`)])
  })

  test('tells the tags of a kustomization, but no digest and no tag of another image', async () => {
    const { name, url } = await aRepository(1)
    const image = (short: string) => ({ name: short, value: '', image: `registry.example/${short}` })
    const entries = ['shop', 'job', 'web', 'moved', 'absent'].map(image)
    const plan = { ...aPlan(url), tool: 'kustomize' as const, entries }
    const images = ['shop=registry.example/shop:v3', 'job:v4', 'web@sha256:00', 'moved=elsewhere.example/moved:v5']
    const revision = await host.commitFiles(name, { 'apps/x.yaml': `kustomize: {images: ${JSON.stringify(images)}}\n` })
    expect(await (await aHistory()).overrideAt(plan, revision)).toEqual(
      new Map([
        ['registry.example/shop', 'v3'],
        ['registry.example/job', 'v4'],
      ]),
    )
  })
})

test('trailers are found between two commits', async () => {
  const { name, url, shas } = await aRepository(1)
  const base = shas[0] ?? ''
  const ours = await host.commitFiles(name, { 'a.yaml': '1' }, 'x\n\nWatcher-Task: 4711\n')
  const tip = await host.commitFiles(name, { 'b.yaml': '1' }, 'Watcher-Task: 99 is only talk')
  const history = await aHistory()
  expect(await history.trailersBetween(url, base, tip)).toEqual(new Map([['4711', ours]]))
  expect(await history.trailersBetween(url, ours, tip)).toEqual(new Map())
  const merged = await host.commitFiles(
    name,
    { 'c.yaml': '1' },
    'x\n\nmore\n\nSigned-off-by: b\nwatcher-task:  a \nWatcher-Task: b\n',
  )
  expect(await history.trailersBetween(url, tip, merged)).toEqual(new Map([...'ab'].map((task) => [task, merged])))
  expect(await history.trailersBetween(url, 'd'.repeat(40), ours)).toEqual(new Map([['4711', ours]]))
})

describe('the commit that set the values of an override file', () => {
  const tags = (image: string, job: string, more = '') =>
    `helm: {parameters: [{name: image.tag, value: "${image}"}, {name: job.tag, value: "${job}"}]}\n${more}`
  const file = 'apps/x.yaml'

  /** Commits each content of the file, other files where it is a number, and says which commit is found. */
  async function find(contents: readonly (string | number)[], plan: Partial<WriteBackPlan> = {}) {
    const { name, url, shas } = await aRepository(1)
    const path = plan.file ?? file
    for (const content of contents) {
      const files = typeof content === 'number' ? { [`other-${content}`]: 'x' } : { [path]: content }
      shas.push(await host.commitFiles(name, files))
    }
    const found = await (await aHistory()).commitThatSet({ ...aPlan(url), ...plan }, 'main', shas.at(-1) ?? '')
    return found === undefined ? undefined : shas.indexOf(found)
  }
  const images = (...list: readonly string[]) => `kustomize: {images: ${JSON.stringify(list)}}\n`
  const kustomize = {
    tool: 'kustomize' as const,
    entries: [{ name: 'shop', value: 'shop=registry.example/shop:v2', image: 'registry.example/shop' }],
  }

  test.for<{ what: string; contents: readonly (string | number)[]; plan?: Partial<WriteBackPlan>; found: number }>([
    { what: 'made the file', contents: [tags('v2', 'v2'), 1], found: 1 },
    { what: 'set the last of them', contents: [tags('v1', 'v2'), 1, tags('v2', 'v2'), 2, 3], found: 3 },
    {
      what: 'lies before other changes of the file',
      contents: ['', tags('v2', 'v2'), tags('v2', 'v2', 'x: 1')],
      found: 2,
    },
    { what: 'set it again', contents: [tags('v2', 'v2'), tags('v1', 'v2'), 1, tags('v2', 'v2', 'x: 1'), 2], found: 4 },
    { what: 'mended a broken file', contents: [tags('v2', 'v2'), 'helm: [', tags('v2', 'v2')], found: 3 },
    {
      what: 'set a Kustomize image',
      contents: [
        images('shop=registry.example/shop:v1'),
        images('a:1', kustomize.entries[0]?.value ?? ''),
        images(kustomize.entries[0]?.value ?? ''),
      ],
      plan: kustomize,
      found: 2,
    },
    {
      what: 'is older than one that took them away, of a newer task',
      contents: [tags('v2', 'v2'), tags('v3', 'v3')],
      found: 1,
    },
  ])('$what', async ({ contents, plan, found }) => expect(await find(contents, plan)).toBe(found))

  test('in the very file, whatever its name would mean as a pattern', async () => {
    expect(await find([tags('v2', 'v2'), 1], { file: 'apps/[xy].yaml' })).toBe(1)
    const { name, url } = await aRepository(1)
    const setBy = await host.commitFiles(name, { 'apps/[xy].yaml': tags('v2', 'v2') })
    await host.commitFiles(name, { 'apps/x.yaml': tags('v1', 'v1') })
    const tip = await host.commitFiles(name, { 'apps/x.yaml': tags('v2', 'v2') })
    const plan = { ...aPlan(url), file: 'apps/[xy].yaml' }
    expect(await (await aHistory()).commitThatSet(plan, 'main', tip)).toBe(setBy)
  })

  test('is on a branch that was merged', async () => {
    const { name, url, shas } = await aRepository(1)
    const setBy = await host.commitFiles(name, { [file]: tags('v2', 'v2') })
    await host.git(name, 'update-ref', 'refs/heads/main', shas[0] ?? '')
    const beside = await host.commitFiles(name, { other: 'x' })
    const merged = await host.git(name, 'merge-tree', '--write-tree', beside, setBy)
    const merge = await host.git(name, 'commit-tree', '-p', beside, '-p', setBy, '-m', 'merge', merged)
    await host.git(name, 'update-ref', 'refs/heads/main', merge)
    expect(await (await aHistory()).commitThatSet(aPlan(url), 'main', merge)).toBe(setBy)
  })

  test.for([
    { changes: 49, found: 1 },
    { changes: 50, found: undefined },
  ])('after $changes other changes of the file: $found', async ({ changes, found }) => {
    const others = Array.from({ length: changes - 1 }, (_, at) => tags('v2', 'v2', `x: ${at}`))
    expect(await find([tags('v2', 'v2'), ...others])).toBe(found)
  })

  test('that is older than what is fetched is not found; one that is not is, whatever was before', async () => {
    const { name, url } = await aRepository(1)
    await host.commitFiles(name, { [file]: tags('v2', 'v2') })
    const history = await aHistory()
    const find = (tip: string, tag: string) => {
      const entries = aPlan(url).entries.map((entry) => ({ ...entry, value: tag }))
      return history.commitThatSet({ ...aPlan(url), entries }, 'main', tip)
    }
    expect(await find(await manyCommits(name, 5_000), 'v2')).toBeUndefined()
    const later = await host.commitFiles(name, { [file]: tags('v3', 'v3') })
    expect(await find(later, 'v3')).toBe(later)
  })

  test('costs one fetch for all questions at one tip, and one for each of the next', async () => {
    const { name, url } = await aRepository(1)
    const first = await host.commitFiles(name, { [file]: tags('v2', 'v2') })
    const history = await aHistory()
    const ask = async (tip: string) => expect(await history.commitThatSet(aPlan(url), 'main', tip)).toBe(first)
    await ask(first)
    const before = reads(name)
    await ask(first)
    expect(reads(name) - before).toBe(0)
    await ask(await host.commitFiles(name, { other: 'x' }))
    expect(reads(name) - before).toBe(1)
  })

  test('a damaged clone is made again at the next question', async () => {
    const { name, url } = await aRepository(1)
    const setBy = await host.commitFiles(name, { [file]: tags('v2', 'v2') })
    const access = await anAccess()
    const history = createCommitHistory({ access, nowMs: Date.now, onError: () => {} })
    expect(await history.commitThatSet(aPlan(url), 'main', setBy)).toBe(setBy)
    const clone = (await readdir(access.folder)).find((folder) => folder.startsWith('f')) ?? ''
    await rm(path.join(access.folder, clone, 'objects'), { recursive: true })
    const tip = await host.commitFiles(name, { other: 'x' })
    await expect(history.commitThatSet(aPlan(url), 'main', tip)).rejects.toMatchObject({ name: 'GitError' })
    expect(await history.commitThatSet(aPlan(url), 'main', tip)).toBe(setBy)
  })
})

describe('a clone that has grown is replaced', () => {
  test.for([
    { what: 'after so many fetches', limits: { fetches: 4, bytes: Number.POSITIVE_INFINITY }, every: 4 },
    { what: 'above a size', limits: { fetches: Number.POSITIVE_INFINITY, bytes: 1_000 }, every: 20 },
  ])('$what: made anew, and all is answered as before', async ({ limits, every }) => {
    const { name, url, shas } = await aRepository(1)
    const access = await anAccess()
    const history = createCommitHistory({ access, limits, nowMs: Date.now, onError: () => {} })
    const packs = async () => {
      const names = await readdir(path.join(access.folder, await cloneIn(access.folder), 'objects', 'pack'))
      return names.filter((file) => file.endsWith('.pack')).length
    }
    const counts: number[] = []
    for (let at = 0; at < 24; at += 1) {
      const tip = await host.commitFiles(name, { [`later${at}`]: 'x' })
      expect(await history.ancestry(url, shas[0] ?? '', tip)).toBe('descendant')
      counts.push(await packs())
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(every)
    expect(counts.filter((count) => count === 1).length).toBe(Math.ceil(24 / every))
  })
})
