import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ssh2 from 'ssh2'

export type HostKeys = { hostKey: string; clientPublicKey: string; clientKeyPath: string; knownHostsPath: string }

/** Host key and client key in a folder, made at the first start; ssh insists that the private key is ours alone. */
export function loadHostKeys(folder: string): HostKeys {
  mkdirSync(folder, { recursive: true })
  const clientKeyPath = join(folder, 'client-key')
  const hostKeyPath = join(folder, 'host-key')
  if (!existsSync(clientKeyPath) || !existsSync(hostKeyPath)) {
    writeKeyPair(clientKeyPath, 'simulator client')
    writeKeyPair(hostKeyPath, 'simulator host')
  }
  return {
    hostKey: readFileSync(hostKeyPath, 'utf8'),
    clientPublicKey: readFileSync(`${clientKeyPath}.pub`, 'utf8'),
    clientKeyPath,
    knownHostsPath: join(folder, 'known-hosts'),
  }
}

function writeKeyPair(path: string, comment: string): void {
  const pair = readableKeyPair(comment)
  writeFileSync(path, pair.private, { mode: 0o600 })
  writeFileSync(`${path}.pub`, `${pair.public}\n`)
}

/** The library cannot read every key it makes (about one of 230). */
function readableKeyPair(comment: string) {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment })
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error)) return pair
  }
}

/** The line with which a client knows the host again. */
export function writeKnownHosts(path: string, hostKey: string, port: number): void {
  const parsed = ssh2.utils.parseKey(hostKey)
  if (parsed instanceof Error) throw new Error('The host key cannot be read', { cause: parsed })
  const line = `[127.0.0.1]:${port} ${parsed.type} ${parsed.getPublicSSH().toString('base64')}\n`
  writeFileSync(path, line)
}
