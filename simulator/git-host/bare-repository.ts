import { existsSync } from 'node:fs'
import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileChanges } from '../model/memory-git.ts'
import { runGit } from './run-git.ts'

export type LoggedCommit = { sha: string; parents: readonly string[]; author: string; message: string }

export type CommitOptions = { message?: string; branch?: string; author?: string }

export type BareRepository = Awaited<ReturnType<typeof openBareRepository>>

const settings = `[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[receive]
	autogc = false
[gc]
	auto = 0
`

/** A bare repository on disk; an existing one is kept as it is. */
export async function openBareRepository(folder: string) {
  if (!existsSync(join(folder, 'HEAD'))) {
    await mkdir(folder, { recursive: true })
    await runGit(folder, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
    await appendFile(join(folder, 'config'), settings)
  }

  async function head(branch = 'main'): Promise<string | undefined> {
    const line = await runGit(folder, ['for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`])
    return line.trim() || undefined
  }

  /** Commits on top of the branch, as another writer does. */
  async function commit(
    changes: FileChanges,
    { message = 'Change', branch = 'main', author = 'Another writer' }: CommitOptions = {},
  ): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      const stream = importStream(changes, { message, ref: `refs/heads/${branch}`, author, parent: await head(branch) })
      try {
        return (await runGit(folder, ['fast-import', '--quiet'], stream)).trim()
      } catch (error) {
        if (attempt >= 20) throw error // other writers move the branch all the time
      }
    }
  }

  return {
    folder,
    head,
    commit,
    /** Newest first. */
    async log(branch = 'main'): Promise<readonly LoggedCommit[]> {
      if ((await head(branch)) === undefined) return []
      const format = '%H%x1f%P%x1f%an <%ae>%x1f%B%x1e'
      const text = await runGit(folder, ['log', `--format=${format}`, `refs/heads/${branch}`])
      return text
        .split('\x1e')
        .map((entry) => entry.trimStart())
        .filter((entry) => entry !== '')
        .map(parseLoggedCommit)
    },
    /** A file's text at a revision; `undefined` if it is not there. */
    async readFile(path: string, revision = 'main'): Promise<string | undefined> {
      const listed = await runGit(folder, ['ls-tree', '-r', '--name-only', revision, '--', path])
      return listed.split('\n').includes(path) ? runGit(folder, ['cat-file', 'blob', `${revision}:${path}`]) : undefined
    },
    setHead: (branch: string, sha: string) => runGit(folder, ['update-ref', `refs/heads/${branch}`, sha]),
  }
}

function parseLoggedCommit(entry: string): LoggedCommit {
  const [sha = '', parents = '', author = '', message = ''] = entry.split('\x1f')
  return { sha, parents: parents.split(' ').filter((parent) => parent !== ''), author, message: message.trimEnd() }
}

/** For `git fast-import`, which answers the commit and leaves the branch alone where it has moved on from the parent. */
function importStream(
  changes: FileChanges,
  commit: { message: string; ref: string; author: string; parent: string | undefined },
): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const who = `${commit.author} <${commit.author.toLowerCase().replace(/[^a-z]+/g, '.')}@example.org> ${Math.floor(Date.now() / 1_000)} +0000`
  const files = Object.entries(changes).map(([path, content]) =>
    content === null ? `D ${JSON.stringify(path)}\n` : `M 100644 inline ${JSON.stringify(path)}\n${data(content)}`,
  )
  const from = commit.parent ? `from ${commit.parent}\n` : ''
  return `commit ${commit.ref}\nmark :1\ncommitter ${who}\n${data(commit.message)}${from}${files.join('')}get-mark :1\n`
}
