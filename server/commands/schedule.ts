import { explainSchedule } from '../locks/explain-schedule.ts'

/** `npm run schedule -- "<schedule>"`: what LOCKDOWN_SCHEDULE would mean, before the service is started with it. */
const { exitCode, output, complaint } = explainSchedule(process.argv.slice(2), new Date())
if (output) console.log(output)
if (complaint) console.error(complaint)
process.exitCode = exitCode
