import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { GitError, machineFailure } from './git-error.ts'

export type GitEnvironment = Readonly<Record<string, string>>

export type GitCommand = {
  readonly arguments: readonly string[]
  /** The whole environment: nothing of our own process is handed on. */
  readonly environment: GitEnvironment
  readonly timeoutMs: number
  readonly input?: string | Buffer
  /** Other programs of the git family; `git` where absent. */
  readonly program?: 'git' | 'ssh' | 'ssh-keygen'
}

export type GitResult = { readonly exitCode: number; readonly stdout: Buffer; readonly stderr: string }

export type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>

const maxStdoutBytes = 64 * 1024 * 1024
const maxStderrBytes = 64 * 1024
/** How long we go on reading words after the end: a kept connection holds that pipe open much longer. */
const lastWordsMs = 10
const lastOutputMs = 1_000

/**
 * Starts a git process as the leader of a group of its own, so that its ssh child can be ended with it.
 * @throws {GitError} `machine`: no more processes or files; some of that comes as an `error` event instead
 */
export function startGit(program: string, args: readonly string[], environment: GitEnvironment): GitProcess {
  // a working directory that always exists: the cache may be deleted under us
  try {
    const child = spawn(program, args, { cwd: '/', env: environment, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    child.on('error', () => {}) // also emitted without a waiter
    // where no file can be opened there are no pipes, whatever the types say
    if (!(child.stdin as unknown)) throw new Error(`${program} cannot be started: too many open files`)
    return child
  } catch (cause) {
    throw machineFailure(cause)
  }
}

/** Ends the process with its group and drops our ends of its pipes, which a kept connection would hold open. */
export function killGit(child: GitProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // gone already
  }
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
}

/**
 * Runs one command to its end, whatever its exit code.
 * @throws {GitError} `timed_out`: what it did is unknown; `machine`: it could not be started
 */
export async function runGit(command: GitCommand): Promise<GitResult> {
  const program = command.program ?? 'git'
  const child = startGit(program, command.arguments, command.environment)
  const stdout = collect(child.stdout, maxStdoutBytes)
  const stderr = collect(child.stderr, maxStderrBytes)
  child.stdin.on('error', () => {}) // a process that ended early: its exit code says why
  child.stdin.end(command.input ?? '')
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    killGit(child)
  }, command.timeoutMs)
  try {
    const exitCode = await exitOf(child)
    await endOf(child.stdout, lastOutputMs)
    await lastWords(child)
    if (timedOut) throw timeOut(command)
    return { exitCode, stdout: stdout.read(), stderr: stderr.read().toString() }
  } finally {
    clearTimeout(timer)
    for (const stream of [child.stdout, child.stderr]) stream.destroy()
  }
}

function timeOut({ timeoutMs, arguments: [name] }: GitCommand): GitError {
  return new GitError('timed_out', `git ${name} timed out after ${Math.round(timeoutMs / 100) / 10}s`)
}

async function exitOf(child: GitProcess): Promise<number> {
  try {
    const [code] = await once(child, 'exit')
    return typeof code === 'number' ? code : 128
  } catch (cause) {
    throw machineFailure(cause)
  }
}

/** Waits for the words of a process that has ended. */
export const lastWords = (child: GitProcess): Promise<void> => endOf(child.stderr, lastWordsMs)

/** After the limit, what has come by then is still read: where we were busy, none of it may have been. */
const endOf = (stream: Readable, limitMs: number): Promise<void> =>
  Promise.race([finished(stream).catch(() => undefined), delay(limitMs).then(() => turn())])

function collect(stream: Readable, maxBytes: number) {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (size < maxBytes) chunks.push(chunk)
    size += chunk.length
  })
  return { read: () => Buffer.concat(chunks).subarray(0, maxBytes) }
}
