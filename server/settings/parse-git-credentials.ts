export type GitCredential = { readonly user: string; readonly password: string }

/**
 * Reads `host=user:token` entries, one per line or separated by commas: `git.example.com=watcher:s3cret`.
 *
 * @returns what is wrong, without the text itself, or the credential by lower-case host (with its port, if it has one)
 */
export function parseGitCredentials(text: string): { issue: string } | ReadonlyMap<string, GitCredential> {
  const byHost = new Map<string, GitCredential>()
  const entries = text.split(/[\n,]/).map((entry) => entry.trim())
  for (const [index, entry] of entries.entries()) {
    if (entry === '') continue
    const [, host, user, password] = /^([\w.-]+(?::\d{1,5})?)=([^:\s]+):(\S+)$/.exec(entry) ?? []
    if (host === undefined || user === undefined || password === undefined) {
      return { issue: `entry ${index + 1} must have the form host=user:token` }
    }
    if (byHost.has(host.toLowerCase())) return { issue: `entry ${index + 1} names a host for the second time` }
    byHost.set(host.toLowerCase(), { user, password })
  }
  return byHost
}
