import { parseArgs } from 'node:util'
import { startDemo } from './demo.ts'
import { startSimulator } from './simulator.ts'

const usage = 'Usage: node simulator/main.ts --dir <folder> [--demo] [--stop-with-stdin]'

const { values } = parseArgs({
  options: {
    demo: { type: 'boolean', default: false },
    dir: { type: 'string' },
    'stop-with-stdin': { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.dir === undefined) throw new Error(usage)
  const simulator = await startSimulator({ folder: values.dir })
  const demo = values.demo ? await startDemo(simulator) : {}
  process.stdout.write(`${JSON.stringify({ ...connection(simulator), ...demo })}\n`)
  await stopRequest()
  await simulator[Symbol.asyncDispose]()
  process.exit(0)
}

function connection(simulator: Awaited<ReturnType<typeof startSimulator>>) {
  return {
    argoUrl: simulator.argoUrl,
    argoToken: simulator.argoToken,
    sshKeyPath: simulator.git.keyPath,
    knownHostsPath: simulator.git.knownHostsPath,
  }
}

/** SIGTERM, SIGINT or, if asked for, the end of standard input: a parent that died leaves no orphan. */
function stopRequest(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve())
    process.on('SIGINT', () => resolve())
    if (!values['stop-with-stdin']) return
    process.stdin.on('end', () => resolve())
    process.stdin.on('error', () => resolve())
    process.stdin.resume()
  })
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
