import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { readInTime } from '../read/read-in-time.ts'
import type { TaskImage } from './running-versions.ts'

/** An application, and the tags that are looked for in its tasks. */
export type WantedTags = { readonly app: string; readonly tags: readonly string[] }

type State = {
  readonly app: string
  /** Differs once a task of the application came, ended or was deleted. */
  readonly history: string
}

const narrower = 'a shorter TASK_RETENTION_DAYS'
/** The histories of so many applications are read by one statement. */
const batchSize = 250

/**
 * Gives the function that reads what tasks made of the images, by application; of those that have been confirmed, since a
 * task names its application as it likes. What runs may have been deployed long ago, so a whole history is read, and again
 * once it has changed or other tags run.
 *
 * It rejects with a ReadTimedOutError where the histories are too long.
 */
export function createReadTaskImages(query: Kysely<Schema>) {
  // What a call has read stays where a later batch times out: the next call goes on from there.
  const kept = new Map<string, { readonly key: string; readonly images: readonly TaskImage[] }>()
  return async (wanted: readonly WantedTags[]): Promise<ReadonlyMap<string, readonly TaskImage[]>> => {
    const tagsOf = new Map(wanted.map(({ app, tags }) => [app, tags]))
    const states = new Map(
      (await readStates(query, [...tagsOf.keys()])).map(({ app, history }) => {
        const tags = tagsOf.get(app) ?? []
        return [app, { app, tags, key: JSON.stringify([history, tags]) }]
      }),
    )
    for (const app of [...kept.keys()]) if (!states.has(app)) kept.delete(app)
    const changed = [...states.values()].filter(({ app, key }) => kept.get(app)?.key !== key)
    for (let from = 0; from < changed.length; from += batchSize)
      for (const { app, images } of await readHistories(query, changed.slice(from, from + batchSize)))
        kept.set(app, { key: states.get(app)?.key ?? '', images })
    return new Map([...kept].map(([app, { images }]) => [app, images]))
  }
}

const ofApp = (query: Kysely<Schema>) => query.selectFrom('tasks').where(sql<boolean>`tasks.app = wanted.app`)

const readStates = (query: Kysely<Schema>, apps: readonly string[]): Promise<readonly State[]> =>
  readInTime(query, 'versions', narrower, async (limited) => {
    const confirmed = limited
      .selectFrom('confirmed_applications')
      .select('app')
      .where('app', 'in', sql<string>`(SELECT unnest(${apps}::text[]))`)
    const all = ofApp(limited).select(sql`concat(count(*), ' ', max(created))`.as('all_tasks'))
    const unfinished = ofApp(limited)
      .where('ended', 'is', null)
      .select(sql`string_agg(id::text, ' ' ORDER BY id)`.as('unfinished'))
    const { rows } = await sql<State>`
      SELECT wanted.app, concat(all_tasks, ' ', unfinished) AS history
      FROM (${confirmed}) AS wanted
      CROSS JOIN LATERAL (${all}) AS counted
      CROSS JOIN LATERAL (${unfinished}) AS unfinished`.execute(limited)
    return rows
  })

/** Of every image the newest deployed task, and of every wanted tag also the newest task that deployed it, or tried to. */
const readHistories = (query: Kysely<Schema>, wanted: readonly WantedTags[]) =>
  readInTime(query, 'versions', narrower, async (limited) => {
    const effective = ofApp(limited)
      .where(sql<boolean>`(commit IS NOT NULL OR status NOT IN ('cancelled', 'app not found'))`)
      .select(['id', 'images', 'status', 'created', 'ended'])
    const { rows } = await sql<{ app: string; images: readonly TaskImage[] }>`
      SELECT wanted.app, coalesce(found.images, '[]') AS images
      FROM jsonb_to_recordset(${JSON.stringify(wanted)}) AS wanted (app text, tags text[])
      CROSS JOIN LATERAL (
        SELECT json_agg(one) AS images FROM (
          SELECT DISTINCT ON (image, wanted_tag, status = 'deployed') image, tag, id, status,
            date_part('epoch', created) AS created, date_part('epoch', ended) AS ended
          FROM (${effective}) AS tasks
          CROSS JOIN LATERAL jsonb_array_elements(tasks.images) AS one
          CROSS JOIN LATERAL (SELECT one ->> 'image' COLLATE "C" AS image, one ->> 'tag' COLLATE "C" AS tag) AS named
          CROSS JOIN LATERAL (SELECT CASE WHEN tag = ANY(wanted.tags) THEN tag END AS wanted_tag) AS matching
          WHERE status = 'deployed' OR wanted_tag IS NOT NULL
          ORDER BY image, wanted_tag, status = 'deployed', tasks.created DESC
        ) AS one
      ) AS found`.execute(limited)
    return rows
  })
