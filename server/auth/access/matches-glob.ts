/**
 * Whether a name matches a glob: `*` stands for any characters but `/`, `?` for one, everything else for itself. Takes time
 * in proportion to both lengths, whatever the glob.
 */
export function matchesGlob(name: string, glob: string): boolean {
  const [parts, globs] = [name.split('/'), glob.split('/')]
  return (
    parts.length === globs.length && parts.every((part, at) => matchesCharacters([...part], [...(globs[at] ?? '')]))
  )
}

function matchesCharacters(name: readonly string[], glob: readonly string[]): boolean {
  let [at, inGlob, star, resumeAt] = [0, 0, -1, 0]
  while (at < name.length) {
    if (glob[inGlob] === '*') {
      star = inGlob++
      resumeAt = at
    } else if (inGlob < glob.length && (glob[inGlob] === '?' || glob[inGlob] === name[at])) {
      at++
      inGlob++
    } else if (star >= 0) {
      at = ++resumeAt // the last star takes one character more
      inGlob = star + 1
    } else return false
  }
  return glob.slice(inGlob).every((rest) => rest === '*')
}
