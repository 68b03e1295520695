import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TaskFilter } from '../../../contract/task.ts'

/** Whether a task belongs to the list. Globs know `*` and `?`. */
export function matchesFilter(filter: TaskFilter, globs: readonly string[] | undefined): Expression<SqlBool> {
  const {
    app,
    author,
    project,
    environment,
    statuses,
    cause,
    from_timestamp,
    to_timestamp,
    ended_from,
    ended_to,
    cursor,
    search,
  } = filter
  const conditions = [
    app !== undefined && sql`app = ${app}`,
    author !== undefined && sql`author = ${author}`,
    project !== undefined && sql`project = ${project}`,
    environment !== undefined && sql`environment = ${environment}`,
    statuses !== undefined && isOneOf(statuses),
    cause !== undefined && sql`cause = ${cause}`,
    from_timestamp !== undefined && sql`created > ${timestamp(from_timestamp)}`,
    to_timestamp !== undefined && sql`created <= ${timestamp(to_timestamp)}`,
    ended_from !== undefined && sql`ended >= ${timestamp(ended_from)}`,
    ended_to !== undefined && sql`ended < ${timestamp(ended_to)}`,
    cursor && sql`(created, id) < (${new Date(cursor.createdMs)}::timestamptz, ${cursor.id}::uuid)`,
    search && matchesSearch(search),
    globs && matchesOne(globs),
  ].filter((condition) => typeof condition === 'object')
  return conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`
}

/** One by itself is found in the order of an index. */
const isOneOf = (statuses: readonly string[]) =>
  statuses.length === 1 ? sql`status = ${statuses[0]}` : sql`status = ANY(${statuses}::text[])`

/** No field may hold a control character; in the searched text line ends stand between the fields. */
export const isUnsearchable = ({ search = '' }: Pick<TaskFilter, 'search'>) => /\p{Cc}/u.test(search)

/** Whether a text in lower case has a part, in any case. */
export const contains = (text: RawBuilder<unknown>, part: string) =>
  sql<SqlBool>`${text} LIKE lower(${`%${literal(part)}%`})`

/** In two parts: the index for searches holds the ended tasks, and of the unfinished ones there are few. */
function matchesSearch(search: string): Expression<SqlBool> {
  const matches = contains(sql`searched`, search)
  return sql<SqlBool>`((ended IS NOT NULL AND ${matches}) OR (ended IS NULL AND ${matches}))`
}

/** As matchesGlob (auth/): `*` and `?` do not stand for `/`. A name holds one at most, so that of the glob is that of the name. */
function matchesOne(globs: readonly string[]) {
  const [qualified, plain] = [true, false].map((hasSlash) =>
    globs.filter((glob) => glob.includes('/') === hasSlash).map(patternOf),
  )
  return sql<SqlBool>`((app LIKE ANY(${plain}::text[]) AND app NOT LIKE '%/%') OR app LIKE ANY(${qualified}::text[]))`
}

const patternOf = (glob: string) => literal(glob).replaceAll('*', '%').replaceAll('?', '_')

/** For LIKE: the text itself, with nothing in it that has a meaning there. */
const literal = (text: string) => text.replace(/[\\%_]/g, '\\$&')

/** To the microsecond: a bound between two milliseconds is one. */
const timestamp = (seconds: number) => sql`to_timestamp(${seconds}::double precision)`
