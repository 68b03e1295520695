import { explainFormat } from '../write-back/plan/explain-format.ts'

/** `npm run template -- '<format>' [--data file.json]`: what COMMIT_MESSAGE_FORMAT would make, before the service starts with it. */
const { exitCode, output, complaint } = explainFormat(process.argv.slice(2))
if (output) process.stdout.write(output)
if (complaint) console.error(complaint)
process.exitCode = exitCode
