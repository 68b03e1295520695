import { describe, expect, test } from 'vitest'
import type { FileRead } from '../git/history/read-tree-file.ts'
import { filesToRead, planBatch } from './plan-batch.ts'

const aWrite = (taskId: string, value: string, file = 'a/x.yaml') => ({
  taskId,
  plan: {
    app: 'shop',
    repository: 'git@h:r',
    address: 'git@h:r',
    branch: 'main',
    file,
    tool: 'helm' as const,
    entries: [{ name: 'image.tag', value, image: 'i' }],
    sourceEntries: [{ name: 'a.b', value: '1', forceString: false }],
    message: `m ${taskId}`,
  },
})
const aFile = (text: string | Buffer, mode: '100644' | '100755' = '100644'): FileRead => ({
  kind: 'file',
  mode,
  content: Buffer.from(text),
})

/** Parameters of so many bytes. */
const textOf = (bytes: number) =>
  `helm:\n  parameters:\n${Array.from({ length: bytes / 25 }, (_, at) => `  - {name: p${at}, value: v}\n`).join('')}`

describe('what one push does', () => {
  test('reads each file once, with the shared one beside it', () => {
    expect(filesToRead([aWrite('1', 'v1'), aWrite('2', 'v2'), aWrite('3', 'v1', 'y.yaml')])).toEqual([
      'a/x.yaml',
      'a/.argocd-source.yaml',
      'y.yaml',
      '.argocd-source.yaml',
    ])
  })

  test('two tasks of one file are two commits, the second on the first; a repetition waits', async () => {
    const plan = await planBatch([aWrite('1', 'v1'), aWrite('2', 'v2'), aWrite('3', 'v2')], new Map())
    expect(plan.commits.map(({ taskId }) => taskId)).toEqual(['1', '2'])
    expect(plan.commits[1]?.commit.content).toBe(plan.commits[0]?.commit.content.replace('"v1"', '"v2"'))
    expect(plan).toMatchObject({ unchanged: [], refused: [] })
  })

  test('the mode of the file is kept', async () => {
    const plan = await planBatch([aWrite('1', 'v1')], new Map([['a/x.yaml', aFile('', '100755')]]))
    expect(plan.commits[0]?.commit.mode).toBe('100755')
  })

  test("the shared file's parameters win over the source's", async () => {
    const files = new Map([['a/.argocd-source.yaml', aFile('helm: {parameters: [{name: a.b, value: "2"}]}')]])
    expect((await planBatch([aWrite('1', 'v1')], files)).commits[0]?.commit.content).toContain(
      'name: a.b\n      value: "2"',
    )
  })

  test('the images of the shared file win over those of the source, in two tools of one folder', async () => {
    const write = aWrite('1', 'shop=registry.example/shop:v2', 'a/k.yaml')
    const plan = {
      ...write.plan,
      tool: 'kustomize' as const,
      entries: [{ name: 'shop', value: 'shop=registry.example/shop:v2', image: 'registry.example/shop' }],
      sourceEntries: [
        { name: 'job', value: 'job:1', forceString: false },
        { name: 'shop', value: 'shop:1', forceString: false },
      ],
    }
    const shared = 'helm: {parameters: [{name: a.b, value: "2"}]}\nkustomize: {images: ["job:2"]}\n'
    const files = new Map([['a/.argocd-source.yaml', aFile(shared)]])
    const { commits } = await planBatch([{ ...write, plan }, aWrite('2', 'v1')], files)
    expect(commits[0]?.commit.content).toBe(
      'kustomize:\n  images:\n    - "job:2"\n    - "shop=registry.example/shop:v2"\n',
    )
    expect(commits[1]?.commit.content).toContain('name: a.b\n      value: "2"')
  })

  test.for([
    {
      what: 'a blocked path',
      files: [['a/x.yaml', { kind: 'blocked', reason: 'a is a submodule' }]],
      says: /a is a submodule/,
    },
    {
      what: 'bytes that are not UTF-8',
      files: [['a/x.yaml', aFile(Buffer.from([0xff, 0xfe, 0x41]))]],
      says: /a\/x\.yaml.*UTF-8/,
    },
    {
      what: 'a broken shared file',
      files: [['a/.argocd-source.yaml', aFile('[')]],
      says: /\.argocd-source\.yaml.*not YAML/,
    },
  ] as { what: string; files: [string, FileRead][]; says: RegExp }[])(
    '$what refuses that task alone',
    async ({ files, says }) => {
      const plan = await planBatch([aWrite('1', 'v1'), aWrite('2', 'v1', 'b/y.yaml')], new Map(files))
      expect(plan.refused).toEqual([
        { taskId: '1', cause: 'override_file_invalid', reason: expect.stringMatching(says) },
      ])
      expect(plan.commits.map(({ taskId }) => taskId)).toEqual(['2'])
    },
  )

  test('the process goes on with other work while files are edited', async () => {
    const writes = Array.from({ length: 20 }, (_, at) => aWrite(`${at}`, 'v1', `${at}/x.yaml`))
    const files = new Map(writes.map(({ plan }) => [plan.file, aFile(textOf(5_000))]))
    let turns = 0
    const count = () => {
      turns += 1
      turning = setImmediate(count)
    }
    let turning = setImmediate(count)
    const plan = await planBatch(writes, files)
    clearImmediate(turning)
    expect(plan.commits).toHaveLength(20)
    expect(turns).toBeGreaterThanOrEqual(20)
  })
})

describe('a rollback', () => {
  const aRollback = (expected: string) => {
    const write = aWrite('back', 'v1')
    return { ...write, plan: { ...write.plan, sourceEntries: [], expected: [{ name: 'image.tag', value: expected }] } }
  }
  const fileWith = (tag: string) =>
    new Map([['a/x.yaml', aFile(`helm:\n  parameters:\n  - {name: image.tag, value: "${tag}"}\n`)]])

  test('takes back what the failed task set', async () => {
    const plan = await planBatch([aRollback('v2')], fileWith('v2'))
    expect(plan.commits.map(({ replaced }) => [...replaced])).toEqual([[['image.tag', 'v2']]])
  })

  test('leaves what came after it', async () => {
    const plan = await planBatch([aRollback('v2')], fileWith('v3'))
    expect(plan).toMatchObject({
      commits: [],
      refused: [
        {
          taskId: 'back',
          cause: 'rollback_outdated',
          reason: 'the file a/x.yaml has image.tag v3, not v2 of the failed deployment',
        },
      ],
    })
  })

  test('has nothing to do where the file has the earlier value already', async () => {
    const [back] = (await planBatch([aRollback('v2')], fileWith('v2'))).commits
    const file = new Map([['a/x.yaml', aFile(back?.commit.content ?? '')]])
    expect(await planBatch([aRollback('v2')], file)).toMatchObject({ unchanged: ['back'], refused: [] })
  })

  test('comes after a write of the same push', async () => {
    const plan = await planBatch([aWrite('newer', 'v3'), aRollback('v2')], fileWith('v2'))
    expect(plan.commits.map(({ taskId }) => taskId)).toEqual(['newer'])
    expect(plan.refused.map(({ taskId }) => taskId)).toEqual(['back'])
  })
})
