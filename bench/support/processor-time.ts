import { readFile } from 'node:fs/promises'
import type { Pool } from 'pg'

const tickMs = 10

/**
 * The processor time in ms that PostgreSQL, ended connections included, and another process of this machine have used so
 * far, in steps of 10 ms. Unlike time on the wall it does not grow with what else the machine does. Linux only.
 */
export async function processorMs(database: Pool, pid: number | undefined): Promise<number> {
  const { rows } = await database.query<{ pid: number }>('SELECT pid FROM pg_stat_activity')
  const backends = await Promise.all(rows.map((row) => statOf(row.pid)))
  const postmaster = await statOf(backends.find((backend) => backend !== undefined)?.parent)
  const service = await statOf(pid)
  const own = [...backends, postmaster, service].map((stat) => stat?.ownTicks ?? 0)
  return tickMs * own.reduce((sum, ticks) => sum + ticks, postmaster?.endedTicks ?? 0)
}

async function statOf(pid: number | undefined) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined) // it may be gone by now
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = (first: number) => Number(fields?.[first]) + Number(fields?.[first + 1])
  return fields && { parent: Number(fields[1]), ownTicks: ticks(11), endedTicks: ticks(13) }
}
