import { isWrongSetup } from '../describe-startup-error.ts'
import { readSettings } from '../settings.ts'
import { migrate } from '../storage/migrate.ts'

/** `npm run migrate`: the migrations alone, with the service's own settings. */
async function migrateAlone(): Promise<void> {
  const { settings } = readSettings(process.env)
  await migrate(settings.database, { onRetry: () => console.error('timed out waiting for a lock, retrying') })
  console.log(`the schema ${settings.database.schema} is up to date`)
}

try {
  await migrateAlone()
} catch (error) {
  if (!isWrongSetup(error)) throw error
  console.error(error.message)
  process.exitCode = 78
}
