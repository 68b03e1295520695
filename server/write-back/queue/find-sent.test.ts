import { describe, expect, test } from 'vitest'
import type { OpenWrite } from '../decide/branch-memory.ts'
import { GitError } from '../git/access/git-error.ts'
import type { CommitHistory } from '../git/history/commit-history.ts'
import type { FileRead } from '../git/history/read-tree-file.ts'
import { findSent } from './find-sent.ts'

const tip = 'b'.repeat(40)
const landed = 'c'.repeat(40)
const queue = { repository: 'h/r', branch: 'main', address: 'git@h:r', owner: 'o', fence: '1' }

const aWrite: OpenWrite = {
  taskId: 'sent',
  plan: {
    app: 'shop',
    repository: 'git@h:r',
    address: 'git@h:r',
    branch: 'main',
    file: 'x.yaml',
    tool: 'helm',
    entries: [{ name: 'image.tag', value: 'v2', image: 'registry.example/shop' }],
    sourceEntries: [],
    message: 'm',
  },
  state: 'pushing',
  base: 'a'.repeat(40),
  lastReason: undefined,
  isWanted: true,
  secondsLeft: 60,
  waitedSeconds: 1,
}

type Branch = {
  readonly trailers?: CommitHistory['trailersBetween']
  readonly tag?: string
  readonly hasNewerTask?: boolean
}

function find(
  writes: readonly OpenWrite[],
  { trailers = async () => new Map(), tag = 'v1', hasNewerTask = false }: Branch,
) {
  const content = Buffer.from(`helm: {parameters: [{name: image.tag, value: ${tag}, forceString: true}]}\n`)
  const file: FileRead = { kind: 'file', mode: '100644', content }
  return findSent(
    queue,
    writes,
    tip,
    { readFiles: async () => new Map([['x.yaml', file]]) },
    { store: { hasNewerTask: async () => hasNewerTask }, history: { trailersBetween: trailers } },
  )
}

const unreadable = () => Promise.reject(new GitError('unreachable', 'no history'))

describe('a push without an answer, on a branch that has left its base', () => {
  test.for<{ what: string; write?: Partial<OpenWrite>; branch: Branch; found: object }>([
    {
      what: 'has its trailer on the branch: landed',
      branch: { trailers: async () => new Map([['sent', landed]]) },
      found: { results: [{ taskId: 'sent', outcome: { kind: 'landed', commit: landed } }] },
    },
    {
      what: 'of a cancelled task has its trailer on the branch: landed',
      write: { isWanted: false },
      branch: { trailers: async () => new Map([['sent', landed]]) },
      found: { results: [{ taskId: 'sent', outcome: { kind: 'landed', commit: landed } }] },
    },
    { what: 'is not there: to be sent again', branch: {}, found: { results: [], absent: ['sent'] } },
    {
      what: 'of a cancelled task is not there: dropped',
      write: { isWanted: false },
      branch: {},
      found: { results: [{ taskId: 'sent', outcome: { kind: 'dropped' } }], absent: [] },
    },
    {
      what: 'is not there, but the file has its tag: unchanged',
      branch: { tag: 'v2' },
      found: { results: [{ taskId: 'sent', outcome: { kind: 'unchanged', commit: tip } }], absent: [] },
    },
    {
      what: 'is not there, and the tag is that of a newer task: to be sent again',
      branch: { tag: 'v2', hasNewerTask: true },
      found: { results: [], absent: ['sent'] },
    },
    {
      what: 'is not found out while the history cannot be read',
      branch: { trailers: unreadable },
      found: { results: [], absent: [], failure: { reason: 'no history', taskIds: ['sent'] } },
    },
  ])('$what', async ({ write, branch, found }) => {
    expect(await find([{ ...aWrite, ...write }], branch)).toMatchObject(found)
  })

  test('that is not found out leaves those on another base to be found', async () => {
    const trailers: CommitHistory['trailersBetween'] = (_, base) =>
      base === aWrite.base ? unreadable() : Promise.resolve(new Map([['other', landed]]))
    const other = { ...aWrite, taskId: 'other', base: 'd'.repeat(40) }
    expect(await find([aWrite, other], { trailers })).toMatchObject({
      results: [{ taskId: 'other', outcome: { kind: 'landed' } }],
      failure: { taskIds: ['sent'] },
    })
  })
})
