import { inspect } from 'node:util'
import { compose } from './compose/compose.ts'
import { describeStartupError, isWrongSetup } from './compose/describe-startup-error.ts'
import { readSettings } from './compose/settings.ts'
import { handleUncaughtErrors } from './compose/uncaught-errors.ts'
import { createRedactor } from './secrets/redactor.ts'

/** What the system calls a configuration error (sysexits.h). */
const configurationError = 78
/** Draining, requests under way and owned work get this long together. */
const stopLimitMs = 25_000

/** Known as soon as the settings are read. */
let secrets: () => readonly string[] = () => []
const redact = createRedactor(() => secrets())

function exitFor(error: unknown): never {
  if (isWrongSetup(error)) {
    console.error(`deployment-watcher: ${error.message}`)
    process.exit(configurationError)
  }
  // The stack tells most of an issue of ours.
  const reason = describeStartupError(error) ?? inspect(error)
  console.error(redact(`deployment-watcher: startup failed: ${reason}`))
  process.exit(1)
}

async function start() {
  try {
    const { settings, warnings } = readSettings(process.env)
    secrets = settings.secrets
    return await compose(settings, warnings)
  } catch (error) {
    return exitFor(error)
  }
}

const service = await start()
handleUncaughtErrors(process, service.noteUncaughtError)

let isStopping = false
async function stop(signal: string): Promise<void> {
  if (isStopping) return
  isStopping = true
  const limit = setTimeout(() => {
    service.log.error({ limitSeconds: stopLimitMs / 1000 }, 'shutdown timed out')
    process.exit(1)
  }, stopLimitMs)
  limit.unref()
  service.log.info({ signal }, 'stopping')
  await service.drain()
  await service.close()
  service.log.info('stopped')
  process.exit(0)
}
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    stop(signal).catch((error: unknown) => {
      service.log.error({ err: error }, 'shutdown failed')
      process.exit(1)
    })
  })
}
