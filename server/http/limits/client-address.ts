import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Whom limits count for. */
export type RequestOrigin = {
  /** Of an IPv6 address its /64, from which one host may choose. */
  readonly address: string
  /** How many times the limit of one client it may take. */
  readonly weight: number
}

const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-real-ip']
/** Behind a proxy that is not trusted there may be many clients, and no header may lift a limit altogether. */
const unknownOriginsWeight = 10

/** Who sends a request: behind a proxy that is not trusted all clients have its address, and say what they like about theirs. */
export function originOf(request: FastifyRequest, trustsProxies: boolean): RequestOrigin {
  const isUnknown = !trustsProxies && forwardingHeaders.some((name) => request.headers[name] !== undefined)
  return { address: networkOf(request.ip), weight: isUnknown ? unknownOriginsWeight : 1 }
}

/** The address that limits count for: of an IPv6 address its /64. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)
  if (mapped) return mapped[1] ?? address
  const [head = [], tail = []] = address.split('::').map((groups) => (groups === '' ? [] : groups.split(':')))
  const embedded = address.includes('.') ? 1 : 0 // an IPv4 address at the end stands for two groups
  const zeros = Array<string>(8 - head.length - tail.length - embedded).fill('0')
  const groups = [...head, ...zeros, ...tail].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
