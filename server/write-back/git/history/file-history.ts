import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { RepositoryAddress } from '../../plan/repository-address.ts'
import { createBareClone } from '../access/bare-clone.ts'
import type { GitAccess } from '../access/git-access.ts'
import { GitError } from '../access/git-error.ts'
import { type FileText, readFileText } from './read-file-text.ts'

export type FileHistory = {
  /**
   * The last commit of the branch that made a file, one of some names, hold something; undefined: it is not among its last
   * 50 commits. The host is asked unless the branch is known to be at `tip`. @throws {GitError}
   */
  lastToSet(tip: string, files: readonly string[], holds: (text: FileText) => boolean): Promise<string | undefined>
}

/** How far back the branch is fetched, and how many commits of one file are read. */
const maxCommits = { ofBranch: 5_000, ofFile: 50 } as const

/** A clone of one branch with its commits and directories; what is in a file comes when it is read. */
export function createFileHistory(
  name: string,
  branch: string,
  address: () => RepositoryAddress,
  access: GitAccess,
): FileHistory {
  const clone = createBareClone(access, {
    name: `${name} ${branch}`,
    prefix: 'f',
    filter: 'blob:none',
    onDiscard: () => reader.close(),
  })
  const { directory } = clone
  const reader = access.openReader(directory, address)
  const ref = `refs/remotes/origin/${branch}`

  async function fetchUpTo(tip: string): Promise<void> {
    await clone.prepare()
    if ((await reader.inspect(ref))?.oid === tip) return
    await clone.prepareFetch()
    const options = ['-q', `--depth=${maxCommits.ofBranch}`, '--no-tags', '--filter=blob:none', '--no-auto-maintenance']
    const command = ['fetch', ...options, '--no-write-fetch-head', 'origin', `+refs/heads/${branch}:${ref}`]
    await access.git(directory, address(), command)
  }

  async function find(tip: string, files: readonly string[], holds: (text: FileText) => boolean) {
    await fetchUpTo(tip)
    const log = await access.git(directory, undefined, [
      'log',
      `-${maxCommits.ofFile}`,
      '--format=%H',
      ref,
      '--',
      ...files,
    ])
    const newestFirst = log.toString().split('\n').filter(Boolean)
    // where the clone ends, git takes all that is there for new
    const ends = await readFile(path.join(directory, 'shallow'), 'utf8').catch(() => '')
    const unlessEnd = (commit: string) => (ends.includes(commit) ? undefined : commit)
    let last = ''
    for (const commit of newestFirst) {
      if (holds(await readFileText(reader, commit, files))) last = commit
      else if (last !== '') return unlessEnd(last)
    }
    const isFileNew = last !== '' && newestFirst.length < maxCommits.ofFile
    return isFileNew ? unlessEnd(last) : undefined
  }

  return {
    lastToSet: (tip, files, holds) =>
      find(tip, files, holds).catch(async (error: unknown) => {
        if (error instanceof GitError && error.code === 'broken') await clone.discard()
        throw error
      }),
  }
}
