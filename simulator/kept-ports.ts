import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'

export type Ports = { argo: number; ssh: number }

const fileName = 'ports.json'

/** The ports of the last start in this folder that are still free: addresses that were stored meanwhile stay good. */
export async function keptPorts(folder: string): Promise<Partial<Ports>> {
  const text = await readFile(join(folder, fileName), 'utf8').catch(() => '{}')
  const kept: Partial<Ports> = {}
  for (const [name, port] of Object.entries(parsed(text))) {
    if ((name === 'argo' || name === 'ssh') && typeof port === 'number' && (await isFree(port))) kept[name] = port
  }
  return kept
}

export async function keepPorts(folder: string, ports: Ports): Promise<void> {
  await writeFile(join(folder, fileName), `${JSON.stringify(ports)}\n`)
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {} // cut off in the middle of a write: as if there had been no start
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
