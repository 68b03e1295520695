import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { readInTime } from '../read/read-in-time.ts'
import type { DeployedImage, DeployedImages } from './running-versions.ts'

/** An application, and the tags that are looked for among its deployed images. */
export type WantedTags = { readonly app: string; readonly tags: readonly string[] }

type Deployed = DeployedImages['deployed']
type State = Pick<DeployedImages, 'unfinished'> & {
  readonly app: string
  /** Differs once another task of the application is deployed, or one was deleted. */
  readonly history: string
}

const narrower = 'a shorter TASK_RETENTION_DAYS'
/** The histories of so many applications are read by one statement. */
const batchSize = 250

/**
 * Gives the function that reads what tasks deployed, by application; of those that have been confirmed, since a task names
 * its application as it likes. What runs may have been deployed long ago, so a whole history is read, and again once it has
 * changed or other tags run.
 *
 * It rejects with a ReadTimedOutError where the histories are too long.
 */
export function createReadDeployedImages(query: Kysely<Schema>) {
  let kept: ReadonlyMap<string, { readonly key: string; readonly deployed: Deployed }> = new Map()
  return async (wanted: readonly WantedTags[]): Promise<ReadonlyMap<string, DeployedImages>> => {
    const tagsOf = new Map(wanted.map(({ app, tags }) => [app, tags]))
    const states = (await readStates(query, [...tagsOf.keys()])).map(({ history, ...state }) => {
      const tags = tagsOf.get(state.app) ?? []
      return { ...state, tags, key: JSON.stringify([history, tags]) }
    })
    const changed = states.filter(({ app, key }) => kept.get(app)?.key !== key)
    const found = new Map<string, Deployed>()
    for (let from = 0; from < changed.length; from += batchSize)
      for (const { app, deployed } of await readHistories(query, changed.slice(from, from + batchSize)))
        found.set(app, deployed)
    kept = new Map(
      states.map(({ app, key }) => [app, { key, deployed: found.get(app) ?? kept.get(app)?.deployed ?? [] }]),
    )
    return new Map(states.map(({ app, unfinished }) => [app, { deployed: kept.get(app)?.deployed ?? [], unfinished }]))
  }
}

const ofApp = (query: Kysely<Schema>) => query.selectFrom('tasks').where(sql<boolean>`tasks.app = wanted.app`)

const readStates = (query: Kysely<Schema>, apps: readonly string[]): Promise<readonly State[]> =>
  readInTime(query, 'versions', narrower, async (limited) => {
    const deployed = ofApp(limited)
      .where('status', '=', 'deployed')
      .select(sql`concat(count(*), ' ', max(created))`.as('history'))
    const unfinished = ofApp(limited)
      .where('ended', 'is', null)
      .select(sql`json_agg(json_build_object('id', id, 'images', images) ORDER BY created DESC)`.as('unfinished'))
    const { rows } = await sql<State>`
      SELECT wanted.app, history, coalesce(unfinished, '[]') AS unfinished
      FROM (${limited.selectFrom('confirmed_applications').select('app').where('app', 'in', sql<string>`(SELECT unnest(${apps}::text[]))`)}) AS wanted
      CROSS JOIN LATERAL (${deployed}) AS deployed
      CROSS JOIN LATERAL (${unfinished}) AS unfinished`.execute(limited)
    return rows
  })

/** Of every image and wanted tag the newest task, and of every image the newest task with another tag. */
const readHistories = (query: Kysely<Schema>, wanted: readonly WantedTags[]) =>
  readInTime(query, 'versions', narrower, async (limited) => {
    const deployed = ofApp(limited).where('status', '=', 'deployed').select(['id', 'images', 'created', 'ended'])
    const { rows } = await sql<{ app: string; deployed: readonly DeployedImage[] }>`
      SELECT wanted.app, coalesce(deployed, '[]') AS deployed
      FROM jsonb_to_recordset(${JSON.stringify(wanted)}) AS wanted (app text, tags text[])
      CROSS JOIN LATERAL (
        SELECT json_agg(one) AS deployed FROM (
          SELECT DISTINCT ON (image, wanted_tag) image, tag, id,
            date_part('epoch', created) AS created, date_part('epoch', ended) AS ended
          FROM (${deployed}) AS tasks
          CROSS JOIN LATERAL jsonb_array_elements(images) AS one
          CROSS JOIN LATERAL (SELECT one ->> 'image' COLLATE "C" AS image, one ->> 'tag' COLLATE "C" AS tag) AS named
          CROSS JOIN LATERAL (SELECT CASE WHEN tag = ANY(wanted.tags) THEN tag END AS wanted_tag) AS matching
          ORDER BY image, wanted_tag, tasks.created DESC
        ) AS one
      ) AS found`.execute(limited)
    return rows
  })
