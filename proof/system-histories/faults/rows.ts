import { databaseAway } from './database-away.ts'
import { databaseKilled } from './database-killed.ts'
import { databaseSilent } from './database-silent.ts'
import type { Fault } from './fault.ts'
import { frozenOwner } from './frozen-owner.ts'
import { killedAtStep } from './killed-at-step.ts'
import { manyAccepted } from './many-accepted.ts'
import { rollingRestarts } from './rolling-restarts.ts'
import { twoVersions } from './two-versions.ts'

/** By the numbers of docs/spec/cases.md, where they have one. */
export const faults: Readonly<Record<string, Fault>> = {
  F1: databaseKilled,
  F3: databaseAway,
  F4: databaseSilent,
  F36: killedAtStep,
  F37: frozenOwner,
  rolling: rollingRestarts,
  accepted: manyAccepted,
  versions: twoVersions,
}

/** How often, for how many seconds, with how many tasks: less than what is promised makes a run short. */
export type FaultSize = Parameters<Fault>[0]

/** Prints a line for each row. @returns whether every promise was kept */
export async function runFaults(names: readonly string[], size: FaultSize): Promise<boolean> {
  let isKept = true
  for (const name of names) {
    const fault = faults[name]
    if (fault === undefined) throw new Error(`no fault ${name}: there are ${Object.keys(faults).join(', ')}`)
    const began = performance.now()
    const { figure, bar, isMet } = await fault(size)
    isKept &&= isMet
    const seconds = Math.round((performance.now() - began) / 1_000)
    console.log(`${name} ${isMet ? 'kept' : 'BROKEN'}: ${figure}; bar: ${bar} (${seconds} s)`)
  }
  return isKept
}
