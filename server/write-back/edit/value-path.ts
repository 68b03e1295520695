/** One step of a path: into a map by key, into a list by position, or to the one map of a list whose key has a value. */
export type PathStep = { readonly text: string } & (
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'index'; readonly at: number }
  | { readonly kind: 'match'; readonly key: string; readonly value: string }
)

const key = /(?:[^\\.[\]]|\\.)+/y
const bracket = /\[(?:(?<at>\d{1,4})|(?<key>[^\\[\]=]+)=(?<value>[^[\]]+))\]/y

/**
 * Reads a path such as `image.tag`, `list[0].tag` or `containers[name=web].image`; `\` takes a character of a key for
 * itself. undefined: it is not one.
 */
export function parseValuePath(path: string): readonly PathStep[] | undefined {
  const steps: PathStep[] = []
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(path)
    if (found) at = pattern.lastIndex
    return found
  }
  while (at < path.length) {
    const dot = steps.length === 0 ? '' : '.'
    if (dot !== '' && path[at++] !== dot) return undefined
    const name = next(key)
    if (!name) return undefined
    steps.push({ kind: 'key', key: name[0].replace(/\\(.)/g, '$1'), text: dot + name[0] })
    for (let found = next(bracket); found; found = next(bracket)) {
      const { at: position, key: wanted = '', value = '' } = found.groups ?? {}
      const text = found[0]
      if (position === undefined) steps.push({ kind: 'match', key: wanted, value, text })
      else steps.push({ kind: 'index', at: Number(position), text })
    }
  }
  return steps.length === 0 || path.endsWith('.') ? undefined : steps
}
