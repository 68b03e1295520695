import { parseRepositoryAddress } from './repository-address.ts'

const github = 'https://github.com/{path}/commit/{sha}'
const gitlab = 'https://gitlab.com/{path}/-/commit/{sha}'
const bitbucket = 'https://bitbucket.org/{path}/commits/{sha}'

/** With the hosts that take SSH on port 443. */
const knownHosts: ReadonlyMap<string, string> = new Map([
  ['github.com', github],
  ['ssh.github.com', github],
  ['gitlab.com', gitlab],
  ['altssh.gitlab.com', gitlab],
  ['bitbucket.org', bitbucket],
  ['altssh.bitbucket.org', bitbucket],
])

/** Where people look at a commit, by GIT_WEB_URLS and what is known of public hosts; undefined where no one said. */
export const commitUrl = (
  repository: string,
  commit: string,
  webUrls: ReadonlyMap<string, string>,
): string | undefined => templateOf(repository, webUrls)?.replaceAll('{sha}', () => commit)

/** Where people look at what came between two commits; undefined where a host has an address of its own for commits. */
export function compareUrl(
  repository: string,
  from: string,
  to: string,
  webUrls: ReadonlyMap<string, string>,
): string | undefined {
  const template = templateOf(repository, webUrls)
  if (template?.endsWith('/commit/{sha}')) return template.replace('/commit/{sha}', () => `/compare/${from}...${to}`)
  if (template?.endsWith('/commits/{sha}'))
    return template.replace('/commits/{sha}', () => `/branches/compare/${to}%0D${from}`)
  return undefined
}

/** The address of a commit, with `{sha}` in its place. */
function templateOf(repository: string, webUrls: ReadonlyMap<string, string>): string | undefined {
  const address = parseRepositoryAddress(repository)
  if (address === undefined) return undefined
  const { host, port, location } = address
  const template = webUrls.get(`${host}:${port}`) ?? webUrls.get(host) ?? knownHosts.get(host)
  const path = location.slice(host.length + 1)
  return path === '' ? undefined : template?.replaceAll('{path}', () => path)
}
