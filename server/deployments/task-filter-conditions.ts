import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TaskFilter } from '../../contract/task.ts'

export type FilterCondition = Expression<SqlBool>

export const all = (conditions: readonly FilterCondition[]): FilterCondition =>
  conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`(${sql.join(conditions, sql` AND `)})`

/** On the names that all tasks of a group share; they can be asked of tasks and of groups. Globs know `*` and `?`. */
export const nameConditions = (
  { app, author, project }: TaskFilter,
  globs: readonly string[] | undefined,
): FilterCondition[] => [
  ...(app === undefined ? [] : [sql<SqlBool>`app = ${app}`]),
  ...(author === undefined ? [] : [sql<SqlBool>`author = ${author}`]),
  ...(project === undefined ? [] : [sql<SqlBool>`project = ${project}`]),
  ...(globs === undefined ? [] : [matchesOne(globs)]),
]

/** On what each task has for itself. */
export const ownConditions = (filter: TaskFilter): FilterCondition[] => [
  ...(filter.status === undefined ? [] : [sql<SqlBool>`status = ${filter.status}`]),
  ...timeConditions(filter),
]

/** Whatever comes behind a cursor is older. */
export const timeConditions = ({ from_timestamp, to_timestamp, cursor }: TaskFilter): FilterCondition[] => [
  ...(from_timestamp === undefined ? [] : [sql<SqlBool>`created > ${timestamp(from_timestamp)}`]),
  ...(to_timestamp === undefined ? [] : [sql<SqlBool>`created <= ${timestamp(to_timestamp)}`]),
  ...(cursor === undefined
    ? []
    : [sql<SqlBool>`(created, id) < (${new Date(cursor.createdMs)}::timestamptz, ${cursor.id}::uuid)`]),
]

/** The part that is searched for, wherever in a task it stands. Unlike LIKE it is never taken for a reason to use an index. */
export const holdsPart = (part: string): FilterCondition => sql<SqlBool>`strpos(searched, lower(${part})) > 0`

export const isLike = (text: RawBuilder<unknown>, part: string): FilterCondition =>
  sql<SqlBool>`${text} LIKE lower(${`%${literal(part)}%`})`

/** For LIKE: the text itself, with nothing in it that has a meaning there. */
const literal = (text: string) => text.replace(/[\\%_]/g, '\\$&')

/** As matchesGlob (auth/): `*` and `?` do not stand for `/`. A name holds one at most, so that of the glob is that of the name. */
function matchesOne(globs: readonly string[]): FilterCondition {
  const [qualified, plain] = [true, false].map((hasSlash) =>
    globs.filter((glob) => glob.includes('/') === hasSlash).map(patternOf),
  )
  return sql<SqlBool>`((app LIKE ANY(${plain}::text[]) AND app NOT LIKE '%/%') OR app LIKE ANY(${qualified}::text[]))`
}

const patternOf = (glob: string) => literal(glob).replaceAll('*', '%').replaceAll('?', '_')

/** To the microsecond: a bound between two milliseconds is one. */
const timestamp = (seconds: number) => sql<Date>`to_timestamp(${seconds}::double precision)`
