import { GitError, machineFailure } from './git-error.ts'
import { type GitEnvironment, type GitProcess, killGit, lastWords, startGit } from './run-git.ts'

/** Reads objects through one living `git cat-file`; an object that the cache lacks is fetched by git itself. */
export type ObjectReader = {
  /** undefined: there is no such object. */
  read(name: string): Promise<Found | undefined>
  /** The same without the content, to know its size beforehand. */
  inspect(name: string): Promise<Omit<Found, 'body'> | undefined>
  close(): void
}

type Found = { readonly oid: string; readonly type: string; readonly size: number; readonly body: Buffer }

type Waiting = {
  readonly withBody: boolean
  readonly resolve: (found: Found | undefined) => void
  readonly reject: (error: GitError) => void
}

type ReaderDeps = {
  readonly environment: () => Promise<GitEnvironment>
  /** False: what the process was started with has changed. */
  readonly isCurrent: (environment: GitEnvironment) => boolean
  readonly timeoutMs: () => number
  readonly onTimeOut: (used: GitEnvironment) => void
  readonly errorOf: (stderr: string) => GitError
}

/** A process that waits for the next request so long is ended. */
const maxIdleMs = 10_000

export function createObjectReader(deps: ReaderDeps): ObjectReader {
  let running: ReaderProcess | undefined
  let starting: Promise<ReaderProcess> | undefined

  async function request(command: 'contents' | 'info', name: string) {
    // a line break would be a command of its own
    if (/[\n\r\0]/.test(name)) throw new GitError('broken', 'the name of an object holds a line break')
    if (running && !deps.isCurrent(running.environment)) retire()
    const process = running && !running.isOver() ? running : await start()
    return process.request(command, name)
  }

  /** One process for all that is requested meanwhile. */
  function start(): Promise<ReaderProcess> {
    starting ??= startReader(deps)
      .then((process) => {
        running = process
        return process
      })
      .finally(() => {
        starting = undefined
      })
    return starting
  }

  /** It still answers what it was asked. */
  function retire(): void {
    running?.finish()
    running = undefined
  }

  return {
    read: (name) => request('contents', name),
    inspect: (name) => request('info', name),
    close() {
      running?.stop()
      running = undefined
      void starting?.then(
        (process) => process.stop(),
        () => undefined,
      )
    },
  }
}

type ReaderProcess = {
  request(command: 'contents' | 'info', name: string): Promise<Found | undefined>
  readonly environment: GitEnvironment
  isOver(): boolean
  finish(): void
  stop(): void
}

async function startReader(deps: ReaderDeps): Promise<ReaderProcess> {
  const environment = await deps.environment()
  const child: GitProcess = startGit('git', ['cat-file', '--batch-command', '--buffer'], environment)
  const waiting: Waiting[] = []
  /** What was read and not answered yet; the answer under way needs so many bytes. */
  let unread: Buffer[] = []
  let neededBytes = 0
  let unreadBytes = 0
  let words = ''
  let over = false
  const idle = setTimeout(() => (waiting.length > 0 ? idle.refresh() : stop()), maxIdleMs).unref()

  function end(error: GitError): void {
    if (over) return
    over = true
    clearTimeout(idle)
    killGit(child)
    for (const { reject } of waiting.splice(0)) reject(error)
  }

  const stop = () => end(new GitError('broken', 'the reader was closed'))

  child.stdout.on('data', (chunk: Buffer) => {
    unread.push(chunk)
    unreadBytes += chunk.length
    if (unreadBytes < neededBytes) return // to join with each chunk would copy a large object again and again
    let rest = Buffer.concat(unread)
    let answer = nextAnswer(rest, waiting[0]?.withBody === true)
    while (answer.kind === 'whole' && waiting.length > 0) {
      rest = rest.subarray(answer.length)
      waiting.shift()?.resolve(answer.found)
      answer = nextAnswer(rest, waiting[0]?.withBody === true)
    }
    neededBytes = answer.length
    unreadBytes = rest.length
    unread = [rest]
  })
  child.stderr.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-2_000)
  })
  child.stdin.on('error', () => {})
  child.once('error', (cause) => end(machineFailure(cause)))
  // it may have asked the host for an object that the cache lacks
  child.once('exit', () => void lastWords(child).then(() => end(deps.errorOf(words))))

  return {
    environment,
    isOver: () => over,
    finish: () => void child.stdin.end(),
    stop,
    request(command, name) {
      const { promise, resolve, reject } = Promise.withResolvers<Found | undefined>()
      const limitMs = deps.timeoutMs()
      const timer = setTimeout(() => {
        deps.onTimeOut(environment)
        end(new GitError('timed_out', `reading the repository timed out after ${Math.round(limitMs / 100) / 10}s`))
      }, limitMs)
      waiting.push({ withBody: command === 'contents', resolve, reject })
      child.stdin.write(`${command} ${name}\nflush\n`)
      idle.refresh()
      return promise.finally(() => clearTimeout(timer))
    },
  }
}

type Answer =
  | { readonly kind: 'whole'; readonly length: number; readonly found: Found | undefined }
  /** Not all is here; it has at least that length. */
  | { readonly kind: 'part'; readonly length: number }

/** `<oid> <type> <size>` and, if asked for, the content and a line end; or `<name> missing`. */
function nextAnswer(unread: Buffer, withBody: boolean): Answer {
  const lineEnd = unread.indexOf(10)
  if (lineEnd < 0) return { kind: 'part', length: unread.length + 1 }
  const [, oid = '', type = '', sizeText] =
    /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(unread.toString('utf8', 0, lineEnd)) ?? []
  if (sizeText === undefined) return { kind: 'whole', length: lineEnd + 1, found: undefined }
  const size = Number(sizeText)
  const start = lineEnd + 1
  if (!withBody) return { kind: 'whole', length: start, found: { oid, type, size, body: Buffer.alloc(0) } }
  const length = start + size + 1
  if (unread.length < length) return { kind: 'part', length }
  return { kind: 'whole', length, found: { oid, type, size, body: Buffer.from(unread.subarray(start, start + size)) } }
}
