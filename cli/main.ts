import { exitCodes } from '../contract/exit-codes.ts'
import { runProgram } from './commands/program.ts'

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (interruption.signal.aborted) process.exit(exitCodes.interrupted)
    interruption.abort()
  })

// Whoever reads may have gone; the exit code still counts.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

const fail = (error: unknown) => {
  process.stderr.write(`deployment-watcher: internal error: ${error instanceof Error ? error.stack : String(error)}\n`)
  process.exit(exitCodes.internal_error)
}
process.on('uncaughtException', fail)
process.on('unhandledRejection', fail)

const { env: variables, stdout, stderr } = process
runProgram(process.argv.slice(2), { variables, stdout, stderr, interrupted: interruption.signal }).then((code) => {
  process.exitCode = code
}, fail)
