import { commitPattern, type GitView, type SourceFiles, tidyPath, unresolved } from '../model/git-view.ts'
import { createObjectReader, type ObjectReader, parseTree } from './object-reader.ts'

export type DiskGitView = GitView & { close(): void }

/**
 * The controller's view of bare repositories on disk. References are read at every look, so a push is visible at once;
 * folders are cached by their tree's id, which never changes meaning.
 */
export function createDiskGitView(folderOf: (repoUrl: string) => string | undefined): DiskGitView {
  const readers = new Map<string, ObjectReader>()
  const folders = new Map<string, SourceFiles>()

  function readerOf(repoUrl: string): ObjectReader | undefined {
    const folder = folderOf(repoUrl)
    if (folder === undefined) return undefined
    const reader = readers.get(folder) ?? createObjectReader(folder)
    readers.set(folder, reader)
    return reader
  }

  async function readFolder(
    reader: ObjectReader,
    treeId: string,
    prefix: string,
    into: Map<string, string>,
  ): Promise<void> {
    const tree = await reader.read(treeId)
    for (const { mode, name, id } of tree ? parseTree(tree.content) : []) {
      if (mode === '40000') await readFolder(reader, id, `${prefix}${name}/`, into)
      else if (mode !== '160000') into.set(`${prefix}${name}`, (await reader.read(id))?.content.toString() ?? '')
    }
  }

  return {
    async resolve(repoUrl, targetRevision) {
      const reader = readerOf(repoUrl)
      if (!reader) return { kind: 'error', message: `failed to list refs: repository not found: ${repoUrl}` }
      for (const name of candidates(targetRevision)) {
        const commit = await reader.read(`${name}^{commit}`)
        if (commit) return { kind: 'commit', sha: commit.id }
      }
      return unresolved(targetRevision)
    },
    async filesAt(repoUrl, sha, path) {
      const reader = readerOf(repoUrl)
      const folder = tidyPath(path)
      const tree = await reader?.read(folder === '' ? `${sha}^{tree}` : `${sha}:${folder}`)
      if (!reader || tree?.type !== 'tree') return undefined
      const known = folders.get(tree.id)
      if (known) return known
      const files = new Map<string, string>()
      await readFolder(reader, tree.id, '', files)
      folders.set(tree.id, files)
      return files
    },
    close(): void {
      for (const reader of readers.values()) reader.close()
    },
  }
}

function candidates(targetRevision: string): readonly string[] {
  if (targetRevision === '' || targetRevision === 'HEAD') return ['HEAD']
  if (commitPattern.test(targetRevision)) return [targetRevision]
  return [`refs/heads/${targetRevision}`, `refs/tags/${targetRevision}`]
}
