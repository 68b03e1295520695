import { runGit } from '../../simulator/git-host/run-git.ts'

export type Rival = {
  /** Its commits so far. */
  readonly commits: readonly string[]
  readonly losses: () => number
  stop(): Promise<void>
}

let changes = 0

/** Commits on top of `main` as another writer does, straight on the Git host; undefined: somebody was faster. */
export async function commitForeign(
  directory: string,
  files: Readonly<Record<string, string>> = { 'rival.txt': `${changes++}\n` },
): Promise<string | undefined> {
  const who = `Rival <rival@example.org> ${Math.floor(Date.now() / 1_000)} +0000`
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const changed = Object.entries(files).map(([name, text]) => `M 100644 inline ${name}\n${data(text)}`)
  const head = `commit refs/heads/main\nmark :1\ncommitter ${who}\n${data('rival')}from refs/heads/main^0\n`
  const stream = `${head}${changed.join('')}get-mark :1\n`
  try {
    return (await runGit(directory, ['fast-import', '--quiet', '--date-format=raw'], stream)).trim()
  } catch (error) {
    if (/not updating|cannot lock ref|failed to update|unable to/i.test(String(error))) return undefined
    throw error
  }
}

/** Commits again and again, until it is stopped. */
export function startRival(directory: string, everyMs: number): Rival {
  const commits: string[] = []
  let losses = 0
  let failure: unknown
  let isStopped = false
  let pushing: Promise<void> = Promise.resolve()
  const push = async () => {
    const commit = await commitForeign(directory)
    if (commit === undefined) losses += 1
    else commits.push(commit)
  }
  const timer = setInterval(() => {
    pushing = pushing
      .then(() => (isStopped ? undefined : push()))
      .catch((error: unknown) => {
        failure = error
      })
  }, everyMs)
  return {
    commits,
    losses: () => losses,
    async stop() {
      isStopped = true
      clearInterval(timer)
      await pushing
      if (failure !== undefined) throw failure
    },
  }
}
