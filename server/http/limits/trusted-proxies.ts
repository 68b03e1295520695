import { BlockList, isIP } from 'node:net'

/** The networks that fastify's names for proxies stand for. */
const networksOf: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** Whether TRUST_PROXY lists an address: as itself, in a network or by a name. */
export function createIsTrustedProxy(trusted: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const entry of trusted.flatMap((one) => networksOf[one] ?? [one])) {
    const [network = '', bits] = entry.split('/')
    const family = familyOf(network)
    if (bits === undefined) list.addAddress(network, family)
    else list.addSubnet(network, Number(bits), family)
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=[\d.]+$)/i, '')
    return isIP(plain) !== 0 && list.check(plain, familyOf(plain))
  }
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
