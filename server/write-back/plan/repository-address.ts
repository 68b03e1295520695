/** A repository address that a write-back may use. `location` is host and path, equal for every protocol that reaches it. */
export type RepositoryAddress = {
  readonly protocol: 'ssh' | 'https'
  readonly user: string | undefined
  /** Lower case. */
  readonly host: string
  readonly port: number | undefined
  readonly path: string
  /** What git gets. */
  readonly text: string
  readonly location: string
  /** Equal for every spelling of one repository. It has one queue, one cache and one owner for each branch (decision 0019). */
  readonly name: string
}

const defaultPorts = { ssh: 22, https: 443 } as const
/** The common hosts serve one repository over SSH, for this user, and over https. */
const commonUser = 'git'

const user = '[A-Za-z0-9_.][A-Za-z0-9_.-]{0,63}'
const host = '[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?'
/** A host decodes other percent-encodings as well: `%2e%2e` would leave what WRITE_BACK_ALLOWED_REPOS allows. */
const pathForm = '(?:[A-Za-z0-9._~/+@-]|%20){1,1024}'
const sshUrl = new RegExp(`^ssh://(${user})@(${host})(?::(\\d{1,5}))?/(${pathForm})$`)
const scpForm = new RegExp(`^(${user})@(${host}):(${pathForm})$`)
const httpsUrl = new RegExp(`^https://(?:${user}@)?(${host})(?::(\\d{1,5}))?/(${pathForm})$`)

/**
 * Reads `ssh://user@host[:port]/path`, `user@host:path` or `https://host[:port]/path`; undefined for anything else, such
 * as a local path, another protocol, an option or a remote helper.
 */
export function parseRepositoryAddress(text: string): RepositoryAddress | undefined {
  const trimmed = text.trim().replace(/(?<!\/)\/+$/, '')
  const scp = scpForm.exec(trimmed)
  if (scp) return address('ssh', scp[1], scp[2], undefined, scp[3], 'scp')
  const ssh = sshUrl.exec(trimmed)
  if (ssh) return address('ssh', ssh[1], ssh[2], ssh[3], ssh[4], 'url')
  const https = httpsUrl.exec(trimmed)
  if (https) return address('https', undefined, https[1], https[2], https[3], 'url')
  return undefined
}

function address(
  protocol: 'ssh' | 'https',
  userName: string | undefined,
  hostName = '',
  portText: string | undefined,
  path = '',
  form: 'scp' | 'url',
): RepositoryAddress | undefined {
  const port = portText === undefined ? undefined : Number(portText)
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined
  if (hostName.includes('..') || !isSafePath(path)) return undefined
  const lowerHost = hostName.toLowerCase()
  const login = userName === undefined ? '' : `${userName}@`
  const authority = `${protocol}://${login}${lowerHost}`
  const text =
    form === 'scp' ? `${login}${lowerHost}:${path}` : `${authority}${port === undefined ? '' : `:${port}`}/${path}`
  const location = `${lowerHost}/${plainPath(path)}`
  const isDefaultPort = port === undefined || port === defaultPorts[protocol]
  const isCommon = isDefaultPort && (userName ?? commonUser) === commonUser
  const name = isCommon ? location : `${authority}${isDefaultPort ? '' : `:${port}`}/${plainPath(path)}`
  return { protocol, user: userName, host: lowerHost, port, path, text, location, name }
}

/** The name of the repository that an address spells. */
export function repositoryName(address: string): string {
  return parseRepositoryAddress(address)?.name ?? address
}

function isSafePath(path: string): boolean {
  return path.split('/').every((segment) => segment !== '..' && !segment.startsWith('-'))
}

function plainPath(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/')
    .replace(/\.git$/, '')
}

/** Whether two addresses mean one repository: host and path count, protocol, user, port and `.git` do not. */
export function isSameRepository(one: string, other: string): boolean {
  if (one === other) return true
  const location = locationOf(one)
  return location !== undefined && location === locationOf(other)
}

/** The delivery controller may read by a protocol that we would not write by. */
function locationOf(text: string): string | undefined {
  const read = parseRepositoryAddress(text)
  if (read) return read.location
  const [, hostName, path] = /^[a-z+]+:\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/(.+)$/i.exec(text.trim()) ?? []
  return hostName === undefined || path === undefined ? undefined : `${hostName.toLowerCase()}/${plainPath(path)}`
}

/** An entry of WRITE_BACK_ALLOWED_REPOS that is not an address to write to, such as `host:port/owner`. */
const allowedForm = /^(?:[a-z+]+:\/\/)?(?:[^/@]*@)?([^/:@]+)(?::(\d+))?(\/.*)?$/i

/**
 * Whether an entry of WRITE_BACK_ALLOWED_REPOS covers the address: a host, a host and an owner, or a whole repository, as
 * `git.example/team/deploy` or as an address. A part that is `*` stands for any one part, a host without a port for any port.
 */
export function isAllowedRepository(address: RepositoryAddress, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true
  const parts = address.location.split('/')
  const addressPort = address.port ?? defaultPorts[address.protocol]
  return allowed.some((entry) => {
    const { location, port } = parseRepositoryAddress(entry) ?? readAllowed(entry)
    const pattern = location.split('/')
    if (port !== undefined && port !== addressPort) return false
    return pattern.length <= parts.length && pattern.every((part, at) => part === '*' || samePart(part, parts[at], at))
  })
}

function readAllowed(entry: string): Pick<RepositoryAddress, 'location' | 'port'> {
  const [, hostName, port, path = ''] = allowedForm.exec(entry.trim()) ?? []
  if (hostName === undefined) return { location: plainPath(entry), port: undefined }
  return { location: plainPath(`${hostName}${path}`), port: port === undefined ? undefined : Number(port) }
}

function samePart(pattern: string, part: string | undefined, at: number): boolean {
  return at === 0 ? pattern.toLowerCase() === part : pattern === part
}
