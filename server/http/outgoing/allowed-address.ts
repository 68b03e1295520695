import { BlockList, isIP } from 'node:net'

const listOf = (...networks: readonly string[]) => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

/** Of this machine and of private networks, of which other services may trust our address (RFC 1918, 4193, 6598, 6890). */
const privateNetworks = listOf(
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '172.16.0.0/12', '192.0.0.0/24', '192.168.0.0/16'],
  ...['198.18.0.0/15', '224.0.0.0/3', '::/127', 'fc00::/7', 'fec0::/10', 'ff00::/8', '64:ff9b::/96'],
)
/** Of the link: clouds hand out credentials there. */
const linkLocal = listOf('169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254/128')

/** Whether something may be sent to an IP address; link-local ones never. */
export function isAllowedAddress(address: string, allowsPrivate: boolean): boolean {
  const plain = withoutMapping(address)
  const family = isIP(plain)
  if (family === 0) return false
  const type = family === 6 ? 'ipv6' : 'ipv4'
  return !linkLocal.check(plain, type) && (allowsPrivate || !privateNetworks.check(plain, type))
}

/** An IPv4 address as an IPv6 one writes it: `::ffff:10.0.0.1`, `::ffff:a00:1`. */
function withoutMapping(address: string): string {
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address) ?? []
  if (high !== undefined && low !== undefined) {
    const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16)
    return [24, 16, 8, 0].map((shift) => Math.floor(bits / 2 ** shift) % 256).join('.')
  }
  return address.replace(/^::ffff:(?=[\d.]+$)/i, '')
}
