/** Addresses of commits for people, by lower-case host (with its port, if it has one), with `{path}` and `{sha}`. */
export type GitWebUrls = ReadonlyMap<string, string>

/**
 * Reads `host=https://host/{path}/commit/{sha}` entries, one per line or separated by commas.
 *
 * @returns what is wrong, without the text itself, or the addresses
 */
export function parseGitWebUrls(text: string): { issue: string } | GitWebUrls {
  const byHost = new Map<string, string>()
  for (const [index, entry] of text.split(/[\n,]/).entries()) {
    const trimmed = entry.trim()
    if (trimmed === '') continue
    const [, host, template] = /^([\w.-]+(?::\d{1,5})?)=(https?:\/\/\S+)$/.exec(trimmed) ?? []
    if (host === undefined || template === undefined || !isTemplate(template)) {
      return { issue: `entry ${index + 1} must have the form host=https://host/{path}/commit/{sha}` }
    }
    if (byHost.has(host.toLowerCase())) return { issue: `entry ${index + 1} names a host for the second time` }
    byHost.set(host.toLowerCase(), template)
  }
  return byHost
}

function isTemplate(template: string): boolean {
  const url = URL.parse(template)
  const [origin = ''] = template.split('{', 1)
  const isWhole = template.includes('{path}') && template.includes('{sha}')
  return url !== null && url.username === '' && isWhole && /^https?:\/\/[^/?#]+\//.test(origin)
}
