/** One commit of a write-back: a file's new content on top of the commit before it. */
export type FileCommit = {
  readonly path: string
  readonly mode: '100644' | '100755'
  readonly content: string
  readonly message: string
}

export type CommitAuthor = { readonly name: string; readonly email: string }

/** The input of `git fast-import` that builds a chain of commits on `base` and prints the id of each. */
export function fastImportStream(
  base: string,
  commits: readonly FileCommit[],
  author: CommitAuthor,
  unixSeconds: number,
): Buffer {
  const who = `${plain(author.name)} <${plain(author.email)}> ${unixSeconds} +0000`
  const parts = commits.flatMap((commit, at) => [
    `commit refs/watcher/batch\nmark :${at + 1}\nauthor ${who}\ncommitter ${who}\n`,
    data(commit.message),
    at === 0 ? `from ${base}\n` : '',
    `M ${commit.mode} inline ${quotedPath(commit.path)}\n`,
    data(commit.content),
    `get-mark :${at + 1}\n`,
  ])
  return Buffer.from(`${parts.join('')}done\n`)
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`
}

/** A name with `<`, `>` or a line break would forge the line it stands in. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}<>]+/gu, ' ').trim()
}

function quotedPath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`
}
