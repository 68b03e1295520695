import { quote } from '../../../contract/fields.ts'
import type { WriteBackApplication } from './application-source.ts'

export type CheckedPath = { kind: 'path'; path: string } | { kind: 'invalid'; reason: string }

/**
 * Normalises a directory inside a repository ('' is its root) and refuses what must never reach git: fast-import would
 * write `..` and `.git` into a tree as they are, and a line break would become a command of its own.
 */
export function checkDirectory(text: string): CheckedPath {
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.')
  const reason = segments.length > 64 || text.length > 1024 ? 'is too long' : firstFault(segments)
  return reason === undefined ? { kind: 'path', path: segments.join('/') } : { kind: 'invalid', reason }
}

/** Directories in which Git hosts look for pipelines, some of them in any letter case. */
const pipelineDirectory = /^\.(?:github|gitea|forgejo|gitlab|circleci)$/i

/**
 * Why nothing is committed to a checked directory: tools take hidden ones for their configuration, so they are entered only
 * where a source of the application has them in its path, and those of pipelines never.
 */
export function hiddenDirectoryFault(directory: string, sourcePaths: readonly string[]): string | undefined {
  const segments = directory.split('/')
  const pipelines = segments.find((segment) => pipelineDirectory.test(segment))
  if (pipelines !== undefined) return `enters ${quote(pipelines)}, where nothing is committed`
  const hidden = segments
    .map((segment, at) => (segment.startsWith('.') ? segments.slice(0, at + 1).join('/') : ''))
    .find((place) => place !== '' && !sourcePaths.some((path) => `${path}/`.startsWith(`${place}/`)))
  if (hidden === undefined) return undefined
  return `enters the hidden directory ${quote(hidden)}, which no source of the application has in its path`
}

/** '' is the root of the repository. */
export const inDirectory = (directory: string, name: string): string =>
  directory === '' ? name : `${directory}/${name}`

/** A file name without a directory. Names that git itself reads (`.gitmodules`, `.gitattributes`) are refused. */
export function checkFileName(name: string): CheckedPath {
  if (name === '' || name === '.') return { kind: 'invalid', reason: 'is empty' }
  if (name.includes('/')) return { kind: 'invalid', reason: 'holds a slash' }
  const reason = /^\.git/i.test(name) ? 'is a name reserved by git' : (firstFault([name]) ?? extensionFault(name))
  return reason === undefined ? { kind: 'path', path: name } : { kind: 'invalid', reason }
}

function extensionFault(name: string): string | undefined {
  return /\.ya?ml$/.test(name) ? undefined : 'does not end in .yaml or .yml'
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

const generatePaths = 'argocd.argoproj.io/manifest-generate-paths'

/** With this annotation the delivery controller passes over commits that touch none of the paths. */
export function manifestPathWarnings({ annotations, sources }: WriteBackApplication, file: string): readonly string[] {
  const list = annotations.get(generatePaths)
  if (list === undefined || list.trim() === '') return []
  const paths = list
    .split(';')
    .map((path) => path.trim())
    .filter((path) => path !== '')
  const covers = paths.some((path) =>
    path.startsWith('/') ? isCovered(file, path) : sources.some((source) => isCovered(file, `${source.path}/${path}`)),
  )
  return covers ? [] : [`the annotation ${generatePaths} does not cover ${file}: Argo CD may not notice its commit`]
}

/** A pattern counts by what stands before its first wildcard: this only decides on a warning. */
function isCovered(file: string, path: string): boolean {
  const parts: string[] = []
  for (const part of path.split('/').filter((part) => part !== '' && part !== '.')) {
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  const directory = parts.join('/')
  const wildcard = directory.search(/[*?[]/)
  return (
    directory === '' ||
    file === directory ||
    file.startsWith(`${directory}/`) ||
    (wildcard >= 0 && file.startsWith(directory.slice(0, wildcard)))
  )
}
