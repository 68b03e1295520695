import { sql } from 'kysely'
import type { Database } from '../storage/database.ts'

/** All SQL of the deploy lock. */
export function createDeployLockStore({ query }: Database) {
  return {
    /** The database's clock decides, so that replicas whose clocks differ say the same. */
    async read(): Promise<{ at: Date }> {
      const { at } = await query.selectNoFrom(sql<Date>`clock_timestamp()`.as('at')).executeTakeFirstOrThrow()
      return { at }
    },
  }
}
