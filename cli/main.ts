import { runProgram } from './commands/program.ts'
import { runProcess } from './run-process.ts'

runProcess(
  (run) => runProgram(process.argv.slice(2), run),
  (words) => `deployment-watcher: internal error: ${words}`,
)
