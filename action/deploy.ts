import { runDeploy } from '../cli/commands/deploy.ts'
import { ExitError } from '../cli/exit.ts'
import type { Outcome } from '../cli/follow/outcome.ts'
import type { Listener, Run } from '../cli/run.ts'
import { exitCodes } from '../contract/exit-codes.ts'
import type { TaskEvent } from '../contract/task-event.ts'
import { readDeployment } from './inputs.ts'
import { nameOfExit, outputsOf } from './outputs.ts'
import { createRunner } from './runner.ts'
import { renderRefusal, renderSummary } from './summary/render-summary.ts'

/** Deploys what the inputs say, with the client. Sets the outputs and the summary however it ends. @returns the exit code */
export async function deploy(run: Run): Promise<number> {
  const runner = createRunner(run)
  runner.begin()
  const told = createNotes(runner.leaveTasks)
  try {
    const { flags, variables } = readDeployment(run.variables)
    const listener = told.listen(flags.cancelOnInterrupt === true)
    const exitCode = await runDeploy(flags, { ...run, variables, listener })
    if (exitCode !== exitCodes.interrupted) runner.leaveTasks([])
    tell(exitCode, renderSummary(told.outcomes(), told))
    return exitCode
  } catch (error) {
    if (!(error instanceof ExitError)) throw error
    runner.fail(nameOfExit(error.code), error.message)
    tell(error.code, renderRefusal(error.message))
    return error.code
  }

  function tell(exitCode: number, summary: string): void {
    const outputs = outputsOf(told.outcomes(), exitCode, told.pageOf)
    for (const [name, value] of Object.entries(outputs)) runner.setOutput(name, value)
    runner.summarize(summary)
  }
}

/** What the client tells while it runs. `leaveTasks` hears the ids so far, so that they outlive this process. */
function createNotes(leaveTasks: (ids: readonly string[]) => void) {
  const ids: string[] = []
  const events: TaskEvent[] = []
  let end: { outcomes: readonly Outcome[]; pageOf: (id: string) => string } = { outcomes: [], pageOf: () => '' }
  return {
    events: events as readonly TaskEvent[],
    outcomes: () => end.outcomes,
    pageOf: (id: string) => end.pageOf(id),
    listen: (areCancelled: boolean): Listener => ({
      onTask(id) {
        ids.push(id)
        if (areCancelled) leaveTasks(ids)
      },
      onEvent: (event) => void events.push(event),
      onEnd(outcomes, pageOf) {
        end = { outcomes, pageOf }
      },
    }),
  }
}
