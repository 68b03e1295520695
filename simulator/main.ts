import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startControlServer } from './control/control-server.ts'
import { startDemo } from './demo.ts'
import { keepPorts, keptPorts } from './kept-ports.ts'
import { type Simulator, startSimulator } from './simulator.ts'

const usage = 'Usage: node simulator/main.ts --dir <folder> [--demo] [--control] [--stop-with-stdin]'

const { values } = parseArgs({
  options: {
    demo: { type: 'boolean', default: false },
    control: { type: 'boolean', default: false },
    dir: { type: 'string' },
    'stop-with-stdin': { type: 'boolean', default: false },
  },
})

async function main(): Promise<void> {
  if (values.dir === undefined) throw new Error(usage)
  const stopped = stopRequest()
  await using opened = new AsyncDisposableStack()
  const simulator = opened.use(await startSimulator({ folder: values.dir, ports: await keptPorts(values.dir) }))
  await keepPorts(values.dir, portsOf(simulator))
  const demo = values.demo ? await startDemo(simulator) : {}
  await writeConnection(values.dir, simulator)
  const control = values.control ? { controlUrl: opened.use(await startControlServer(simulator)).url } : {}
  process.stdout.write(`${JSON.stringify({ ...connection(simulator), ...demo, ...control })}\n`)
  await stopped
}

function portsOf(simulator: Simulator) {
  return { argo: Number(new URL(simulator.argoUrl).port), ssh: Number(new URL(simulator.git.sshUrl).port) }
}

/** For a service that reads its settings from files. */
async function writeConnection(folder: string, { argoUrl, argoToken }: Simulator): Promise<void> {
  await writeFile(join(folder, 'argo-url'), argoUrl)
  await writeFile(join(folder, 'argo-token'), argoToken)
}

function connection(simulator: Simulator) {
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

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  },
)
