import type { DeployLockDetails } from '../../contract/deploy-lock.ts'
import { exitCodes } from '../../contract/exit-codes.ts'
import { oneLine } from '../../contract/fields.ts'
import { accessTokenOf } from '../credential/credential.ts'
import type { ConnectionFlags } from '../input/connection.ts'
import { jsonLine } from '../output/json.ts'
import { harmless } from '../output/markup.ts'
import { timeOf } from '../output/words.ts'
import type { Run } from '../run.ts'
import { asking } from './show.ts'

/** `lock status`: 6 while deployments are locked, so that a script can ask. */
export async function runLockStatus(
  flags: ConnectionFlags & { readonly output: 'text' | 'json' },
  run: Run,
): Promise<number> {
  let isLocked = false
  const code = await asking(flags, run, async (api) => {
    const details = await api.lock(run.interrupted)
    isLocked = details.active
    const text = flags.output === 'json' ? jsonLine(details) : `${harmless(wordsOf(details), run.variables)}\n`
    run.stdout.write(text)
  })
  return code === exitCodes.deployed && isLocked ? exitCodes.locked : code
}

function wordsOf({ active, until, reason, set_by, next_window: next }: DeployLockDetails): string {
  if (!active)
    return `Deployments are open.${next === null ? '' : ` The next lockdown window begins ${timeOf(next.from)}.`}`
  const end = until === null ? '' : ` until ${timeOf(until)}`
  const by = set_by === null ? '' : ` by ${set_by}`
  return oneLine(`Deployments are locked${end}${by}${reason === null ? '.' : `: ${reason}`}`)
}

/** `lock set`. */
export const runLockSet = (
  { reason, until, ...flags }: ConnectionFlags & { readonly reason?: string; readonly until?: number },
  run: Run,
): Promise<number> =>
  asUser(flags, run, async (api) => {
    await api.setLock({ ...(reason === undefined ? {} : { reason }), ...(until === undefined ? {} : { until }) })
    run.stdout.write('Deployments are locked.\n')
  })

/** `lock release`. */
export const runLockRelease = (flags: ConnectionFlags, run: Run): Promise<number> =>
  asUser(flags, run, async (api) => {
    await api.releaseLock()
    run.stdout.write('Deployments are open.\n')
  })

const asUser = (flags: ConnectionFlags, run: Run, ask: Parameters<typeof asking>[2]): Promise<number> =>
  asking({ ...flags, output: 'text' }, run, ask, accessTokenOf(run.variables))
