import { createHmac } from 'node:crypto'
import { parseRepositoryAddress, type RepositoryAddress } from './repository-address.ts'
import type { WriteBackSettings } from './write-back-settings.ts'

type Credentials = Pick<
  WriteBackSettings,
  'sshKeyPath' | 'knownHostsPath' | 'knownHosts' | 'gitCredentials' | 'appHost'
>

/**
 * The address by which git reaches a repository: as it is spelled if there is a credential for its protocol, else over the
 * other protocol if there is one for that, and for SSH also the key of the host. undefined: there is none.
 */
export function chooseTransport(address: RepositoryAddress, settings: Credentials): RepositoryAddress | undefined {
  if (hasCredential(address, settings)) return address
  const other = overOtherProtocol(address)
  if (other === undefined || !hasCredential(other, settings)) return undefined
  return other.protocol === 'https' || namesHost(settings.knownHosts(), other.host) ? other : undefined
}

/** Of another port or user it is not known what the other protocol would have there. */
function overOtherProtocol({ protocol, host, location, name }: RepositoryAddress): RepositoryAddress | undefined {
  if (name !== location) return undefined
  const path = location.slice(host.length + 1)
  return parseRepositoryAddress(protocol === 'ssh' ? `https://${host}/${path}.git` : `git@${host}:${path}.git`)
}

function hasCredential(address: RepositoryAddress, settings: Credentials): boolean {
  if (address.protocol === 'https') return credentialsFor(address, settings) !== undefined || isOfApp(address, settings)
  return settings.sshKeyPath !== undefined && settings.knownHostsPath !== undefined
}

/** The entry of GIT_CREDENTIALS for an https address. */
export function credentialsFor({ host, port }: RepositoryAddress, { gitCredentials }: Credentials) {
  const credentials = gitCredentials()
  const withPort = credentials.get(`${host}:${port ?? 443}`)
  return withPort ?? ((port ?? 443) === 443 ? credentials.get(host) : undefined)
}

/** Whether the GitHub App may have a token for an https address. An entry of GIT_CREDENTIALS wins. */
export const isOfApp = ({ host, port }: RepositoryAddress, { appHost }: Pick<Credentials, 'appHost'>): boolean =>
  appHost === ((port ?? 443) === 443 ? host : `${host}:${port}`)

/** As an entry of GIT_CREDENTIALS names it. */
export function credentialHost({ host, port }: RepositoryAddress): string {
  return port === undefined ? host : `${host}:${port}`
}

/** Whether lines of a known_hosts file name a host, as it is or hashed. */
function namesHost(knownHosts: string, host: string): boolean {
  return knownHosts.split('\n').some((line) => {
    const [names = ''] = line.trim().split(/\s/, 1)
    const [, salt = '', digest] = /^\|1\|([^|]+)\|([^|]+)$/.exec(names) ?? []
    if (digest === undefined) return names.toLowerCase().split(',').includes(host)
    return createHmac('sha1', Buffer.from(salt, 'base64')).update(host).digest('base64') === digest
  })
}
