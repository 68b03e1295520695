import { githubMarkup } from '../cli/output/markup.ts'
import { runProcess } from '../cli/run-process.ts'
import { exitCodes } from '../contract/exit-codes.ts'
import { cancelLeftTasks } from './cancel-left-tasks.ts'
import { deploy } from './deploy.ts'
import { nameOfExit } from './outputs.ts'
import { isPost } from './runner.ts'

runProcess(
  (run) => (isPost(run.variables) ? cancelLeftTasks(run) : deploy(run)),
  (words) => githubMarkup.error(nameOfExit(exitCodes.internal_error), words),
)
