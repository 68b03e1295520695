import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../cli/dist/deployment-watcher.mjs', import.meta.url))

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Runs the built client as a pipeline does, with these variables and no others but PATH. */
export function startClient(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  const textOf = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString()
  return {
    pid: child.pid ?? Number.NaN,
    /** What it has printed so far. */
    stdout: () => textOf(stdout),
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    ended: new Promise<Ended>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code) => resolve({ code, stdout: textOf(stdout), stderr: textOf(stderr) }))
    }),
  }
}

export const runClient = (...parameters: Parameters<typeof startClient>): Promise<Ended> =>
  startClient(...parameters).ended
