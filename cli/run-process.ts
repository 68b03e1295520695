import { exitCodes } from '../contract/exit-codes.ts'
import type { Run } from './run.ts'

/**
 * Runs a program in this process. The first SIGINT or SIGTERM interrupts it, the second one ends the process with 130; an error
 * that is not handled ends it with 70. `sayCrash` words that error for the log.
 */
export function runProcess(program: (run: Run) => Promise<number>, sayCrash: (words: string) => string): void {
  const interruption = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (interruption.signal.aborted) process.exit(exitCodes.interrupted)
      interruption.abort()
    })

  // What reads may have gone; the exit code still counts.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

  const fail = (error: unknown) => {
    process.stderr.write(`${sayCrash(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`)
    process.exit(exitCodes.internal_error)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)

  const { env: variables, stdout, stderr } = process
  program({ variables, stdout, stderr, interrupted: interruption.signal }).then((code) => {
    process.exitCode = code
  }, fail)
}
