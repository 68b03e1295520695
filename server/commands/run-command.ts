import { describeStartupError, isWrongSetup } from '../compose/describe-startup-error.ts'

/** Runs a command: its result is the exit code. What is wrong around it is one line, with 78 for what must be changed. */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await command()
  } catch (error) {
    const reason = isWrongSetup(error) ? error.message : describeStartupError(error)
    if (reason === undefined) throw error
    console.error(reason)
    process.exitCode = isWrongSetup(error) ? 78 : 1
  }
}
