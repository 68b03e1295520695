export type CheckedPath = { kind: 'path'; path: string } | { kind: 'fault'; reason: string }

/**
 * Normalises a directory inside a repository ('' is its root) and refuses what must never reach git: fast-import would
 * write `..` and `.git` into a tree as they are, and a line break would become a command of its own.
 */
export function checkDirectory(text: string): CheckedPath {
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.')
  const reason = segments.length > 64 || text.length > 1024 ? 'is too long' : firstFault(segments)
  return reason === undefined ? { kind: 'path', path: segments.join('/') } : { kind: 'fault', reason }
}

/** A file name without a directory. Names that git itself reads (`.gitmodules`, `.gitattributes`) are refused. */
export function checkFileName(name: string): CheckedPath {
  if (name === '' || name === '.') return { kind: 'fault', reason: 'is empty' }
  if (name.includes('/')) return { kind: 'fault', reason: 'holds a slash' }
  const reason = /^\.git/i.test(name) ? 'is a name that git reads' : firstFault([name])
  return reason === undefined ? { kind: 'path', path: name } : { kind: 'fault', reason }
}

function firstFault(segments: readonly string[]): string | undefined {
  return segments.map(faultOf).find((fault) => fault !== undefined)
}

/**
 * Zero-width characters vanish on some file systems, where `.g\u200cit` is `.git`; `git~1` and `.git ` are `.git` on others.
 * U+FFFD stands where an annotation held a NUL or half a character.
 */
function faultOf(segment: string): string | undefined {
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\ufffd]/u.test(segment)) return 'holds control or invisible characters'
  if (segment.includes('\\')) return 'holds a backslash'
  if (segment === '..') return 'leaves the repository'
  if (/^\.git(?:modules)?[ .]*(?::.*)?$/i.test(segment) || /^gi[0-9a-z]*~\d+$/i.test(segment)) return 'names .git'
  if (segment !== segment.normalize('NFC')) return 'is not in Unicode normal form C'
  return Buffer.byteLength(segment) > 255 ? 'has a part longer than 255 bytes' : undefined
}
