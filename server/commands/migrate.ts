import { readSettings } from '../compose/settings.ts'
import { migrate } from '../storage/migrate.ts'
import { runCommand } from './run-command.ts'

/** `npm run migrate`: the migrations alone, with the service's own settings. */
await runCommand(async () => {
  const { settings } = readSettings(process.env)
  await migrate(settings.database, { onRetry: () => console.error('timed out waiting for a lock, retrying') })
  console.log(`the schema ${settings.database.schema} is up to date`)
  return 0
})
