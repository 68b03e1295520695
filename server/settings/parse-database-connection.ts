import { readFileSync } from 'node:fs'
import type { DatabaseSettings } from '../storage/database.ts'
import { isLoopback } from './address-text.ts'

type Connection = DatabaseSettings['connection']

export const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const
export type SslMode = (typeof sslModes)[number]

/**
 * What libpq's words mean to our driver.
 * @param caFile authorities, read for each new connection; with them `require` means `verify-ca`, and no mode `verify-full`
 */
export function sslOf(mode: SslMode, caFile?: string): NonNullable<Connection['ssl']> {
  if (caFile !== undefined) {
    const isHostChecked = mode === 'disable' || mode === 'verify-full'
    return {
      get ca() {
        return readFileSync(caFile, 'utf8')
      },
      ...(isHostChecked ? {} : { checkServerIdentity: () => undefined }),
    }
  }
  if (mode === 'disable') return false
  if (mode === 'require') return { rejectUnauthorized: false }
  return mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : { rejectUnauthorized: true }
}

/**
 * Reads an address (`postgres://…`) or libpq's keywords (`host=db user=watcher dbname='my db'`).
 *
 * @param caFile authorities of the server, as for `sslOf`
 * @returns what is wrong, without the text itself, or the connection
 */
export function parseDatabaseConnection(text: string, caFile?: string): Connection | { issue: string } {
  if (/^postgres(ql)?:\/\//.test(text)) return parseAddress(text, caFile)
  const keywords = parseKeywords(text)
  if (!keywords)
    return { issue: 'must be a postgres:// address or keywords such as host=db user=watcher dbname=watcher' }
  return connectionOf(keywords, caFile)
}

const unknownMode = { issue: `sslmode must be one of ${sslModes.join(', ')}` }

/** With libpq's meaning of sslmode: the driver's own differs and it would warn at every start. */
function parseAddress(text: string, caFile?: string): Connection | { issue: string } {
  const address = URL.parse(text)
  if (!address || !isDecodable(address.password))
    return { issue: 'must be a postgres:// address; special characters in the password are percent-encoded' }
  if (caFile !== undefined) {
    if (!address.searchParams.has('sslmode')) address.searchParams.set('sslmode', 'verify-full')
    address.searchParams.set('sslrootcert', caFile) // which the driver reads for each new connection
  }
  const mode = address.searchParams.get('sslmode')
  if (mode === null) return { connectionString: address.href }
  if (!sslModes.some((known) => known === mode)) return unknownMode
  address.searchParams.set('uselibpqcompat', 'true')
  return { connectionString: address.href }
}

/** Whether the password and all data cross a network without TLS. */
export function isUnprotected({ connectionString, host, ssl }: Connection): boolean {
  const address = URL.parse(connectionString ?? '')
  if (address === null) return !ssl && isElsewhere(typeof host === 'string' ? host : '')
  const { searchParams: query } = address
  const mode = query.get('sslmode') ?? (/^(true|1)$/.test(query.get('ssl') ?? '') ? 'require' : 'disable')
  return mode === 'disable' && isElsewhere(query.get('host') ?? address.hostname)
}

/** Without a host, and with a path for one, the database is on this machine. */
const isElsewhere = (host: string) => host !== '' && !host.startsWith('/') && !isLoopback(host)

function parseKeywords(text: string): Map<string, string> | undefined {
  const pair = /\s*(\w+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|((?:[^\s'\\]|\\.)*))(?=\s|$)\s*/y
  const keywords = new Map<string, string>()
  while (pair.lastIndex < text.length) {
    const [, name, quoted, bare] = pair.exec(text) ?? []
    if (name === undefined) return undefined
    keywords.set(name.toLowerCase(), (quoted ?? bare ?? '').replace(/\\(.)/g, '$1'))
  }
  return keywords.size > 0 ? keywords : undefined
}

function connectionOf(keywords: ReadonlyMap<string, string>, caFile?: string): Connection | { issue: string } {
  const mode = sslModes.find((known) => known === (keywords.get('sslmode') ?? 'disable'))
  if (mode === undefined) return unknownMode
  const port = keywords.get('port')
  if (port !== undefined && !/^\d{1,5}$/.test(port)) return { issue: 'port must be a whole number' }
  const named = { host: 'host', user: 'user', password: 'password', database: 'dbname' }
  const connection: Connection = { ssl: sslOf(mode, caFile) }
  if (port !== undefined) connection.port = Number(port)
  for (const [property, keyword] of Object.entries(named)) {
    const value = keywords.get(keyword)
    if (value !== undefined) Object.assign(connection, { [property]: value })
  }
  return connection
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}
