import { maxFileBytes, tooLarge } from '../../edit/yaml-limits.ts'

/** What a commit holds at a path. `blocked` paths are never written to. */
export type FileRead =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly mode: '100644' | '100755'; readonly content: Buffer }
  | { readonly kind: 'blocked'; readonly reason: string }

export type TreeEntry = { readonly mode: string; readonly name: string; readonly oid: string }

/** Some 100,000 entries. A directory may have millions, which would take all of the process's memory. */
export const maxTreeBytes = 4 * 1024 * 1024

/** Entries of a raw tree object: `<mode> <name>\0<20 bytes>`, one after the other. */
export function parseTree(body: Buffer): ReadonlyMap<string, TreeEntry> {
  const entries = new Map<string, TreeEntry>()
  for (let at = 0; at < body.length; ) {
    const blank = body.indexOf(32, at)
    const end = body.indexOf(0, blank)
    const name = body.toString('utf8', blank + 1, end)
    const mode = body.toString('latin1', at, blank).padStart(6, '0')
    entries.set(name, { mode, name, oid: body.toString('hex', end + 1, end + 21) })
    at = end + 21
  }
  return entries
}

/** undefined: the tree is larger than `maxTreeBytes`. */
export type ReadTree = (oid: string) => Promise<ReadonlyMap<string, TreeEntry> | undefined>
export type ReadBlob = (oid: string) => Promise<{ size: number; content: () => Promise<Buffer> }>

const kinds: ReadonlyMap<string, string> = new Map([
  ['040000', 'a directory'],
  ['120000', 'a symbolic link'],
  ['160000', 'a submodule'],
  ['100644', 'a file'],
  ['100755', 'a file'],
])

/** Walks to a path from a root tree. Everything on the way must be a directory and the end a plain file, or absent. */
export async function readTreeFile(
  root: string,
  path: string,
  readTree: ReadTree,
  readBlob: ReadBlob,
): Promise<FileRead> {
  const segments = path.split('/')
  let tree = root
  for (const [depth, segment] of segments.entries()) {
    const entries = await readTree(tree)
    if (entries === undefined) return tooManyEntries(segments.slice(0, depth).join('/') || 'root')
    const entry = entries.get(segment)
    if (entry === undefined) return { kind: 'absent' }
    const isEnd = depth === segments.length - 1
    const place = segments.slice(0, depth + 1).join('/')
    if (isEnd) return readEnd(entry, place, readBlob)
    if (entry.mode !== '040000') return blocked(place, entry, 'a directory')
    tree = entry.oid
  }
  return { kind: 'absent' }
}

async function readEnd(entry: TreeEntry, place: string, readBlob: ReadBlob): Promise<FileRead> {
  const { mode } = entry
  if (mode !== '100644' && mode !== '100755') return blocked(place, entry, 'a plain file')
  const blob = await readBlob(entry.oid)
  if (blob.size > maxFileBytes) return { kind: 'blocked', reason: `${place} ${tooLarge}` }
  return { kind: 'file', mode, content: await blob.content() }
}

function tooManyEntries(directory: string): FileRead {
  return { kind: 'blocked', reason: `the ${directory} directory has more entries than can be edited (4 MiB)` }
}

function blocked(place: string, entry: TreeEntry, wanted: string): FileRead {
  return { kind: 'blocked', reason: `${place} is ${kinds.get(entry.mode) ?? `of mode ${entry.mode}`}, not ${wanted}` }
}
