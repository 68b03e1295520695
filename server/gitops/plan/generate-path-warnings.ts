import type { WriteBackApplication } from './application-source.ts'

const generatePaths = 'argocd.argoproj.io/manifest-generate-paths'

/** With this annotation the delivery controller passes over commits that touch none of the paths. */
export function generatePathWarnings({ annotations, sources }: WriteBackApplication, file: string): readonly string[] {
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
