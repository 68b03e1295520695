import { spawn } from 'node:child_process'

/** Git could not be run, or said no. */
class GitCommandError extends Error {
  override readonly name = 'GitCommandError'
}

const identity = {
  GIT_AUTHOR_NAME: 'Simulator',
  GIT_AUTHOR_EMAIL: 'simulator@example.org',
  GIT_COMMITTER_NAME: 'Simulator',
  GIT_COMMITTER_EMAIL: 'simulator@example.org',
}

/** Git's environment: nothing of the user's configuration. */
export function gitEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: '/nonexistent',
    LANG: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    ...extra,
  }
}

/**
 * Runs git and answers its output.
 * @throws {GitCommandError} if there is no git, or it fails
 */
export function runGit(
  folder: string,
  args: readonly string[],
  input = '',
  extra: Readonly<Record<string, string>> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd: folder, env: gitEnvironment({ ...identity, ...extra }) })
    const output: Buffer[] = []
    const complaints: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => output.push(part))
    child.stderr.on('data', (part: Buffer) => complaints.push(part))
    child.on('error', (cause: NodeJS.ErrnoException) => reject(missingGit(cause)))
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(output).toString())
      else
        reject(new GitCommandError(`git ${args[0]} failed (${code}): ${Buffer.concat(complaints).toString().trim()}`))
    })
    child.stdin.on('error', () => {}) // git may end before it has read everything; its exit code tells
    child.stdin.end(input)
  })
}

function missingGit(cause: NodeJS.ErrnoException): GitCommandError {
  const message = cause.code === 'ENOENT' ? 'The simulator needs git (2.36 or later) on the PATH' : cause.message
  return new GitCommandError(message, { cause })
}
