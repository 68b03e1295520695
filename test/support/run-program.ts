import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { compileCache } from '../../server/node-flags.mjs'

export type Variables = Readonly<Record<string, string>>
type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Runs a file of this checkout on Node, with these variables and no others but PATH, until it ends by itself. */
export function startProgram(file: string, args: readonly string[] = [], variables: Variables = {}) {
  const program = fileURLToPath(new URL(`../../${file}`, import.meta.url))
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...variables },
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

/** Runs the service with settings that end its start. */
export const runService = (settings: Variables): Promise<Ended> => startProgram('server/main.ts', [], settings).ended

/** Runs what `npm run <name>` runs. */
export const runCommand = (name: string, args: readonly string[], settings?: Variables): Promise<Ended> =>
  startProgram(`server/commands/${name}.ts`, args, settings).ended
