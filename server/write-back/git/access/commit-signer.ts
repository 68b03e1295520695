import { createHash, randomBytes } from 'node:crypto'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { GitError, machineFailure } from './git-error.ts'
import type { KeyFile } from './key-file.ts'
import { type GitEnvironment, killGit, runGit, startGit } from './run-git.ts'

/** Makes the signature of a text, as git wants it in a commit. @throws {GitError} `machine` */
export type Sign = (text: string) => Promise<string>

const limitMs = 10_000

/** Its agent, socket and file end with its input, which ends with us at the latest. */
const holdKey = `ssh-add -q "$0" && ssh-add -L > "$SSH_AUTH_SOCK.pub" && echo ready && cat
rm -f "$SSH_AUTH_SOCK.pub"
kill "$SSH_AGENT_PID"`

/**
 * Signs with a key for as long as the work takes. An agent holds the key meanwhile: to open an encrypted one takes 150 ms,
 * which is too much for each commit of a burst.
 */
export async function withSigner<Result>(
  key: KeyFile,
  base: GitEnvironment,
  work: (sign: Sign) => Promise<Result>,
): Promise<Result> {
  await key.copy().catch((error: unknown) => Promise.reject(machineFailure(error)))
  const socket = path.join(path.dirname(key.path), `agent-${randomBytes(6).toString('hex')}`)
  const held = ['-a', socket, 'sh', '-c', holdKey, key.path]
  const agent = startGit('ssh-agent', held, { ...base, ...key.environment() })
  let words = ''
  agent.stderr.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-500)
  })
  const isReady = await Promise.race([
    new Promise<boolean>((resolve) => {
      agent.stdout.once('data', () => resolve(true))
      agent.once('error', ({ message }) => {
        words = message
        resolve(false)
      })
      agent.once('exit', () => resolve(false))
    }),
    delay(limitMs, false, { ref: false }),
  ])
  try {
    if (!isReady) throw unusable(words)
    return await work((text) => sign(text, socket, base))
  } finally {
    if (isReady) agent.stdin.end()
    else killGit(agent)
  }
}

async function sign(text: string, socket: string, base: GitEnvironment): Promise<string> {
  const { exitCode, stdout, stderr } = await runGit({
    program: 'ssh-keygen',
    arguments: ['-Y', 'sign', '-q', '-n', 'git', '-f', `${socket}.pub`],
    environment: { ...base, SSH_AUTH_SOCK: socket },
    timeoutMs: limitMs,
    input: text,
  })
  if (exitCode !== 0) throw unusable(stderr)
  return stdout.toString()
}

const unusable = (words: string) =>
  new GitError('machine', `the key of SSH_SIGNING_KEY_PATH cannot be used to sign, retrying: ${words.trim()}`)

/** The same commit on another parent. */
export function onParent(commit: string, parent: string): string {
  return commit.replace(/^parent [0-9a-f]{40}$/m, `parent ${parent}`)
}

/** A commit with its signature as the last of its headers. */
export function withSignature(commit: string, signature: string): string {
  const end = commit.indexOf('\n\n')
  return `${commit.slice(0, end)}\ngpgsig ${signature.trim().replaceAll('\n', '\n ')}${commit.slice(end)}`
}

/** The name that git gives to a commit of this text. */
export function commitId(commit: string): string {
  return createHash('sha1')
    .update(`commit ${Buffer.byteLength(commit)}\0${commit}`)
    .digest('hex')
}
