import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import type { Actor } from '../../server/audit/record-action.ts'
import type { NewTask } from '../../server/deployments/task.ts'
import { DeploymentsLockedError } from '../../server/deployments/task-errors.ts'
import { createDeployLockStore } from '../../server/locks/deploy-lock-store.ts'
import { neverClosed } from '../../server/locks/evaluate-deploy-lock.ts'
import { type DatabaseSettings, openDatabase } from '../../server/storage/database.ts'
import { aNewTask } from './new-task.ts'
import { createTaskStore } from './task-store.ts'

type Race = {
  readonly settings: DatabaseSettings
  /** Address of the same database, for the looks. */
  readonly url: string
  readonly rounds: number
  /** Stop after this many milliseconds, however many rounds are left. */
  readonly limitMs: number
}

export type RaceResult = {
  readonly rounds: number
  readonly submissions: number
  readonly accepted: number
  /** Accepted tasks that were not yet there right after the lock call had returned. */
  readonly slipped: number
  readonly slowestSetMs: number
}

const submitters = 20
/** The lock is set in the middle of this time. */
const spreadMs = 12
const somebody: Actor = { kind: 'session', id: 'race', name: 'race' }

/** Races submissions on two replicas against a lock that is set while they are under way, and released after each round. */
export async function raceLock({ settings, url, rounds, limitMs }: Race): Promise<RaceResult> {
  await using first = openDatabase({ ...settings, maxConnections: 12 }, fail)
  await using second = openDatabase({ ...settings, maxConnections: 12 }, fail)
  const replicas = [createTaskStore(first), createTaskStore(second)]
  const lock = createDeployLockStore(first)
  const look = new Client({ connectionString: url })
  await look.connect()
  const total = { rounds: 0, submissions: 0, accepted: 0, slipped: 0, slowestSetMs: 0 }
  try {
    for (const deadline = performance.now() + limitMs; total.rounds < rounds && performance.now() < deadline; ) {
      await lock.release(() => neverClosed, somebody)
      const submitted = Array.from({ length: submitters }, (_, at) => submitSoon(replicas[at % 2], racingTask(at)))
      await delay(spreadMs / 2)
      const began = performance.now()
      await lock.set({ reason: null, until: null }, somebody)
      // Sent in the same turn, so what is committed later was committed after the answer.
      const present = look.query<{ id: string }>('SELECT id FROM watcher.tasks')
      total.slowestSetMs = Math.max(total.slowestSetMs, performance.now() - began)
      const there = new Set((await present).rows.map(({ id }) => id))
      const accepted = (await Promise.all(submitted)).filter((id) => id !== undefined)
      total.rounds++
      total.submissions += submitted.length
      total.accepted += accepted.length
      total.slipped += accepted.filter((id) => !there.has(id)).length
      await look.query('DELETE FROM watcher.tasks')
    }
    return total
  } finally {
    await look.end()
  }
}

type Replica = ReturnType<typeof createTaskStore>

/** @returns the id of an accepted task */
async function submitSoon(replica: Replica | undefined, task: NewTask): Promise<string | undefined> {
  await delay(Math.random() * spreadMs)
  try {
    await replica?.accept({ task, closed: neverClosed })
    return task.id
  } catch (error) {
    if (error instanceof DeploymentsLockedError) return undefined
    throw error
  }
}

/** Half of them share an application, so that some wait for each other. */
const racingTask = (at: number): NewTask => aNewTask(at < submitters / 2 ? { app: 'shared' } : {})

function fail(error: Error): never {
  throw error
}
