import { exitCodes } from '../contract/exit-codes.ts'
import { runProgram } from './commands/program.ts'
import { refuseNode } from './node-version.ts'
import { runProcess } from './run-process.ts'

const refusal = refuseNode(process.versions.node)
if (refusal === undefined)
  runProcess(
    (run) => runProgram(process.argv.slice(2), run),
    (words) => `deployment-watcher: internal error: ${words}`,
  )
else {
  process.stderr.write(`deployment-watcher: ${refusal}\n`)
  process.exitCode = exitCodes.usage
}
