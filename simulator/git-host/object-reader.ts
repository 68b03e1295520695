import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { gitEnvironment } from './run-git.ts'

export type GitObject = { id: string; type: 'commit' | 'tree' | 'blob' | 'tag'; content: Buffer }

export type ObjectReader = ReturnType<typeof createObjectReader>

/** Reads objects of a bare repository through one `git cat-file --batch` that stays open; it sees new commits at once. */
export function createObjectReader(folder: string) {
  let child: ChildProcessWithoutNullStreams | undefined
  let received: Buffer = Buffer.alloc(0)
  let waiting: { resolve: (object: GitObject | undefined) => void; reject: (cause: Error) => void }[] = []

  function start(): ChildProcessWithoutNullStreams {
    const started = spawn('git', ['cat-file', '--batch'], { cwd: folder, env: gitEnvironment() })
    started.stdout.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part])
      while (takeAnswer());
    })
    started.on('error', (cause) => stop(new Error('git cat-file cannot be run', { cause })))
    started.on('close', () => stop(new Error('git cat-file has ended')))
    started.stdin.on('error', () => {}) // the close event tells
    return started
  }

  function stop(cause: Error): void {
    child = undefined
    received = Buffer.alloc(0)
    const unanswered = waiting
    waiting = []
    for (const { reject } of unanswered) reject(cause)
  }

  function takeAnswer(): boolean {
    const lineEnd = received.indexOf(10)
    if (lineEnd < 0) return false
    const [id = '', type = '', size = ''] = received.subarray(0, lineEnd).toString().split(' ')
    if (type !== 'commit' && type !== 'tree' && type !== 'blob' && type !== 'tag') {
      received = received.subarray(lineEnd + 1)
      waiting.shift()?.resolve(undefined)
      return true
    }
    const end = lineEnd + 1 + Number(size)
    if (received.length < end + 1) return false
    const content = Buffer.from(received.subarray(lineEnd + 1, end))
    received = received.subarray(end + 1)
    waiting.shift()?.resolve({ id, type, content })
    return true
  }

  return {
    /** The object a name such as `refs/heads/main^{commit}` stands for; `undefined` if there is none. */
    read(name: string): Promise<GitObject | undefined> {
      child ??= start()
      const process = child
      return new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        process.stdin.write(`${name}\n`)
      })
    },
    close(): void {
      child?.kill()
    },
  }
}

export type TreeEntry = { mode: string; name: string; id: string }

/** The entries of a tree object: `<mode> <name>\0<20 bytes of id>`, one after the other. */
export function parseTree(content: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at)
    const zero = content.indexOf(0, space)
    entries.push({
      mode: content.subarray(at, space).toString(),
      name: content.subarray(space + 1, zero).toString(),
      id: content.subarray(zero + 1, zero + 21).toString('hex'),
    })
    at = zero + 21
  }
  return entries
}
