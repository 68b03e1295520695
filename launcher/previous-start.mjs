import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Above the time that a service takes to finish its work. */
const endLimitMs = 30_000

/** @param {string} dataDirectory */
const recordIn = (dataDirectory) => path.join(dataDirectory, 'running.json')

/**
 * @param {string} dataDirectory
 * @param {number | undefined} service its process id
 */
export async function recordStart(dataDirectory, service) {
  await mkdir(dataDirectory, { recursive: true })
  await writeFile(recordIn(dataDirectory), JSON.stringify({ launcher: process.pid, service }))
}

/** @param {string} dataDirectory */
export const forgetStart = (dataDirectory) => rm(recordIn(dataDirectory), { force: true })

/**
 * The service of a launcher that was killed finishes its work before it gives up its port; an immediate new start waits
 * for that. One whose launcher still runs is not waited for.
 *
 * @param {string} dataDirectory
 */
export async function waitForPreviousEnd(dataDirectory) {
  const text = await readFile(recordIn(dataDirectory), 'utf8').catch(() => '{}')
  const { launcher, service } = parseRecord(text)
  if ((await runs(launcher, 'launcher.mjs')) || !(await runs(service, 'main.ts'))) return
  console.error('waiting for the service of an earlier start to end …')
  for (const deadline = Date.now() + endLimitMs; Date.now() < deadline; await delay(100)) {
    if (!(await runs(service, 'main.ts'))) return
  }
}

/**
 * @param {string} text
 * @returns {{ launcher?: number, service?: number }}
 */
function parseRecord(text) {
  try {
    return JSON.parse(text)
  } catch {
    return {} // cut short by the end of its writer
  }
}

/** Process ids are used again, so the command line decides where it can be read.
 * @param {number | undefined} pid
 * @param {string} program */
async function runs(pid, program) {
  if (!pid) return false
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return (
    process.platform !== 'linux' || (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(program)
  )
}
