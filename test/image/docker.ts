import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** @returns what the client of Docker printed, without white space around it. */
export async function docker(...args: readonly string[]): Promise<string> {
  return (await run('docker', args)).stdout.trim()
}

/** Of a container that ends by itself, both streams in one. */
export async function endOf(container: string): Promise<{ status: number; output: string }> {
  const status = Number(await docker('wait', container))
  const { stdout, stderr } = await run('docker', ['logs', container])
  return { status, output: stdout + stderr }
}
