import { describe, expect, test } from 'vitest'
import type { FileKind } from '../edit/editors.ts'
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

  const kustomized = (taskId: string, value: string, file = 'a/kustomization.yaml') => {
    const { plan } = aWrite(taskId, value, file)
    const entries = [{ name: 'shop', value, image: 'registry.example/shop' }]
    return { taskId, plan: { ...plan, tool: 'kustomization' as const, entries, sourceEntries: [], filesBeside: [] } }
  }

  test('tasks that name one file in different ways are commits on each other, with what each replaced', async () => {
    const { plan } = aWrite('2', 'v3', 'a/Kustomization')
    const entries = [{ name: 'images[0].newName', value: 'r/shop', image: 'r/shop' }]
    const byPath = {
      taskId: '2',
      plan: { ...plan, tool: 'yaml' as const, entries, sourceEntries: [], filesBeside: [] },
    }
    const files = new Map([['a/Kustomization', aFile('images: [{name: shop, newName: x, newTag: v1}]\n', '100755')]])
    const { commits } = await planBatch([kustomized('1', 'v2'), byPath], files)
    expect(commits).toMatchObject([
      {
        commit: {
          path: 'a/Kustomization',
          mode: '100755',
          content: 'images: [{name: shop, newName: x, newTag: v2}]\n',
        },
        replaced: new Map([['shop', 'v1']]),
      },
      {
        commit: { path: 'a/Kustomization', content: 'images: [{name: shop, newName: r/shop, newTag: v2}]\n' },
        replaced: new Map([['images[0].newName', 'x']]),
      },
    ])
  })

  test('a folder with two kustomizations, or without one, gets none', async () => {
    const text = 'images: [{name: shop, newTag: v1}]'
    const files = new Map([
      ['a/kustomization.yaml', aFile(text)],
      ['a/kustomization.yml', aFile(text)],
    ])
    expect(await planBatch([kustomized('1', 'v2'), kustomized('2', 'v2', 'b/kustomization.yaml')], files)).toEqual({
      commits: [],
      unchanged: [],
      refused: [
        {
          taskId: '1',
          cause: 'override_file_invalid',
          reason: 'the file a/kustomization.yaml is not the only kustomization of its directory',
        },
        { taskId: '2', cause: 'values_key_missing', reason: 'the file b/kustomization.yaml does not exist' },
      ],
    })
  })

  describe.for<[tool: FileKind, text: string]>([
    ['helm', ''],
    ['kustomize', ''],
    ['yaml', 'image: {tag: v0}'],
    ['kustomization', 'images: [{name: image.tag, newTag: v0}]'],
  ])('of a file of the kind %s', ([tool, text]) => {
    const write = (taskId: string, file: string) => {
      const { plan } = aWrite(taskId, tool === 'kustomize' ? 'image.tag:v1' : 'v1', file)
      return { taskId, plan: { ...plan, tool, sourceEntries: [] } }
    }
    const own = 'a/kustomization.yaml'
    test.for([
      {
        what: 'a blocked path',
        file: own,
        read: { kind: 'blocked', reason: 'a is a submodule' },
        says: /a is a submodule/,
      },
      { what: 'bytes that are not UTF-8', file: own, read: aFile(Buffer.from([0xff, 0xfe, 0x41])), says: /UTF-8/ },
      { what: 'a file that is too large', file: own, read: aFile(`# ${'x'.repeat(256 * 1024)}`), says: /256 KiB/ },
      { what: 'a file that is too deep', file: own, read: aFile('['.repeat(100)), says: /nested too deeply/ },
      {
        what: 'a broken shared file',
        file: 'a/.argocd-source.yaml',
        read: aFile('['),
        says: /cannot be edited: a\/\.argocd-source\.yaml beside it is not YAML/,
      },
    ] as { what: string; file: string; read: FileRead; says: RegExp }[])(
      '$what refuses that task alone',
      async ({ file, read, says }) => {
        const files = new Map([
          [own, aFile(text)],
          ['b/kustomization.yaml', aFile(text)],
          [file, read],
        ] as const)
        const plan = await planBatch([write('1', own), write('2', 'b/kustomization.yaml')], files)
        expect(plan.refused).toEqual([
          { taskId: '1', cause: 'override_file_invalid', reason: expect.stringMatching(says) },
        ])
        expect(plan.commits.map(({ taskId }) => taskId)).toEqual(['2'])
      },
    )
  })

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
