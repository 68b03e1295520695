import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { BadgeTask } from './render-badge.ts'

/** The newest task of an application that may have changed what runs; of one that Argo CD has shown. */
export const readBadgeTask = (query: Kysely<Schema>, app: string): Promise<BadgeTask | undefined> =>
  query
    .selectFrom('tasks')
    .innerJoin('confirmed_applications', 'confirmed_applications.app', 'tasks.app')
    .select(['status', 'images'])
    .where('tasks.app', '=', app)
    .where('status', 'not in', ['cancelled', 'app not found'])
    .orderBy('created', 'desc')
    .limit(1)
    .executeTakeFirst()
