import { BlockList, isIP } from 'node:net'
import { usageError } from '../exit.ts'

type Variables = Readonly<Record<string, string | undefined>>

/**
 * The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name for an address; the names in lower case win.
 * @throws {ExitError} where it is not the address of one; the message has only the name
 */
export function proxyFor(url: URL, variables: Variables): URL | undefined {
  const read = (name: string) => variables[name.toLowerCase()] || variables[name] || ''
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const text = read(name)
  if (text === '' || isExempt(url, read('NO_PROXY'))) return undefined
  const address = text.includes('://') ? text : `http://${text}`
  if (!isProxy(address)) throw usageError(`${name}: must be an address such as http://proxy.example.com:3128`)
  return new URL(address)
}

function isProxy(address: string): boolean {
  try {
    const { protocol, username, password } = new URL(address)
    decodeURIComponent(username + password)
    return protocol === 'http:' || protocol === 'https:'
  } catch {
    return false
  }
}

/** NO_PROXY: `*`, hosts with their subdomains, addresses and networks, each with a port or without. */
function isExempt(url: URL, exempt: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return exempt
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true
      if (entry.includes('/')) return isInNetwork(host, entry)
      const [, name = entry, entryPort] = /^(.*?)(?::(\d+))?$/.exec(entry.replace(/^\[(.*)\]/, '$1')) ?? []
      if (isIP(entry) !== 0) return host === entry
      if (entryPort !== undefined && entryPort !== port) return false
      const domain = name.replace(/^\*?\./, '')
      return host === domain || host.endsWith(`.${domain}`)
    })
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', prefix = ''] = network.split('/')
  const family = isIP(address)
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(prefix)) return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  if (Number(prefix) > (family === 4 ? 32 : 128)) return false
  const networks = new BlockList()
  networks.addSubnet(address, Number(prefix), type)
  return networks.check(host, type)
}
