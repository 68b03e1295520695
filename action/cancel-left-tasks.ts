import { runCancel } from '../cli/commands/show.ts'
import { ExitError } from '../cli/exit.ts'
import type { Run } from '../cli/run.ts'
import { exitCodes } from '../contract/exit-codes.ts'
import { readConnection } from './inputs.ts'
import { createRunner, tasksLeft } from './runner.ts'

/**
 * After a cancelled job: cancels what the step has left behind, once more, since the runner may have killed it before its cancel
 * arrived. A task that is over stays as it is. @returns the exit code
 */
export async function cancelLeftTasks(run: Run): Promise<number> {
  const runner = createRunner(run)
  const stdout = { write: (text: string) => text.trimEnd().split('\n').forEach(runner.say) }
  const cancel = async (id: string) => {
    const { flags, variables } = readConnection(run.variables)
    await runCancel(id, { ...flags, output: 'text' }, { ...run, variables, stdout })
  }
  const attempts = tasksLeft(run.variables).map((id) =>
    cancel(id).catch((error: unknown) => {
      if (!(error instanceof ExitError)) throw error
      runner.say(`Task ${id}: ${error.message}`)
    }),
  )
  await Promise.all(attempts)
  return exitCodes.deployed
}
