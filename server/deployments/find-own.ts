import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TaskFilter } from '../../contract/task.ts'
import type { Schema } from '../storage/schema.ts'
import { holdsFor } from './newest-tasks.ts'
import {
  all,
  type FilterCondition,
  holdsPart,
  isLike,
  nameConditions,
  ownConditions,
  timeConditions,
} from './task-filter-conditions.ts'

/** Tables for a WITH clause, and queries for tasks (`id`, `created`) that use them; a task may be in several. */
type Ways = { readonly tables: readonly RawBuilder<unknown>[]; readonly ways: readonly RawBuilder<unknown>[] }

/** Of so many tasks the tags are compared one by one, which is cheaper than to look up the trigrams of all tasks. */
const fewTasks = 20_000
/** What of a task's tags is in the index of its group; see the migration. */
const indexedLength = 100

/**
 * Ways to find a part of three characters or more in what is a task's own: its tags, id and commit, and what stretches over
 * the end of an image's name and the beginning of its tag. Not in the tasks of groups of which `matching` has the names.
 */
export function findOwn(
  query: Kysely<Schema>,
  filter: TaskFilter,
  globs: readonly string[] | undefined,
  part: string,
): Ways {
  const names = nameConditions(filter, globs)
  const others = [...names, sql<SqlBool>`NOT ${isLike(sql.ref('searched'), part)}`]
  const isOther = sql<SqlBool>`(group_id IN (SELECT id FROM matching)) IS FALSE`
  const whole =
    names.length === 0 || mayBeOfId(part)
      ? {
          tables: names.length === 0 ? [] : [groupsTable(query, 'others', others)],
          ways: [byTrigrams(query, filter, part, part, names.length === 0 ? isOther : isOf('others'))],
        }
      : either(query, filter, part, part, 'others', others, holdsInTags(query, part))
  const overColons = partsAround(part).map(([name, tag], index) => {
    const named = [...others, isLike(sql.ref('searched'), `${name}\n`)]
    return either(query, filter, part, tag, `others_${index}`, named, beginsTags(query, part, tag), name)
  })
  return {
    tables: [whole, ...overColons].flatMap(({ tables }) => tables),
    ways: [whole, ...overColons].flatMap(({ ways }) => ways),
  }
}

/** Where the groups have few tasks, or the piece is too short to exclude many, by the tags of these tasks. */
function either(
  query: Kysely<Schema>,
  filter: TaskFilter,
  part: string,
  piece: string,
  name: string,
  groups: readonly FilterCondition[],
  isHeld: FilterCondition,
  end = '',
): Ways {
  const table = groupsTable(query, name, groups, end)
  const tasks = query.selectFrom('tasks').select(['id', 'created'])
  const isOfGroup = sql<SqlBool>`group_id = ${sql.id(name, 'id')}`
  const byTags = sql`SELECT one.id, one.created FROM ${sql.id(name)} CROSS JOIN LATERAL (
    ${tasks.where(all([isOfGroup, isHeld, ...ownConditions(filter)]))} OFFSET 0) AS one`
  if (!hasTrigrams(piece)) return { tables: [table], ways: [byTags] }
  const few = sql.id(`${name}_few`)
  const counted = sql`${few} AS MATERIALIZED (SELECT count(*) <= ${fewTasks} AS are_few FROM (
    SELECT FROM ${sql.id(name)} CROSS JOIN LATERAL (${tasks.where(isOfGroup)} OFFSET 0) AS one LIMIT ${fewTasks + 1}) AS counted)`
  const areFew = sql<SqlBool>`(SELECT are_few FROM ${few})`
  const elsewhere = byTrigrams(query, filter, part, piece, all([isOf(name), sql<SqlBool>`NOT ${areFew}`]))
  return { tables: [table, counted], ways: [sql`${byTags} WHERE ${areFew}`, elsewhere] }
}

/** `ends_so`: whether the last image, which may be the only one, has a name that ends in `end`. */
function groupsTable(query: Kysely<Schema>, name: string, conditions: readonly FilterCondition[], end = '') {
  const endsSo = sql<boolean>`right(searched, length(lower(${end})) + 1) = lower(${`${end}\n`})`
  const groups = query
    .selectFrom('task_groups')
    .select(['id', endsSo.as('ends_so')])
    .where(all(conditions))
  return sql`${sql.id(name)} AS MATERIALIZED (${groups})`
}

/** Groups are found by their hash: there may be thousands. */
const isOf = (name: string) => sql<SqlBool>`(group_id IN (SELECT id FROM ${sql.id(name)})) IS TRUE`

/** By the index of trigrams, which is asked for `piece` of the part. */
function byTrigrams(
  query: Kysely<Schema>,
  filter: TaskFilter,
  part: string,
  piece: string,
  isOfGroups: FilterCondition,
) {
  const isOne = [mayHold(piece), isOfGroups, holdsPart(part)]
  return sql`${query
    .selectFrom('searchable_tasks')
    .select(['id', 'created'])
    .where(all([...isOne, ...timeConditions(filter), ...statusConditions(query, filter)]))}`
}

/** Looked up for the few that hold the part. */
function statusConditions(query: Kysely<Schema>, { status }: TaskFilter): FilterCondition[] {
  const found = query.selectFrom('tasks').select('status').where(sql<SqlBool>`tasks.id = searchable_tasks.id`)
  return status === undefined ? [] : [sql<SqlBool>`(${found}) = ${status}`]
}

const isWhole = sql<SqlBool>`octet_length(tags) < ${indexedLength}`

const holdsInTags = (query: Kysely<Schema>, part: string) =>
  sql<SqlBool>`CASE WHEN ${isWhole} THEN strpos(tags, lower(${part})) > 0 ELSE ${holdsFor(query, 'tasks', holdsPart(part))} END`

/** Where there are several images, it is not known here which of them has which tag. */
const beginsTags = (query: Kysely<Schema>, part: string, tag: string) =>
  sql<SqlBool>`CASE WHEN ${isWhole} AND strpos(tags, E'\\n') = 0 THEN ends_so AND starts_with(tags, lower(${tag}))
    ELSE ${holdsFor(query, 'tasks', holdsPart(part))} END`

/** What is the task's own; the trigram index is on this expression. Its id stands there without dashes. */
const ownText = sql<string>`(split_part(searched, E'\\x02', 2) || E'\\n' || replace(id::text, '-', ''))`

const mayHold = (piece: string): FilterCondition =>
  mayBeOfId(piece) && piece.includes('-')
    ? sql<SqlBool>`(${isLike(ownText, enoughOf(piece))} OR ${isLike(ownText, enoughOf(piece.replaceAll('-', '')))})`
    : isLike(ownText, enoughOf(piece))

/**
 * A piece of the part that excludes nearly as much and costs less: the end of a long id or commit has few trigrams and is
 * as rare as the whole, and a beginning such as `v1` has one, which most tags share and which is compared with each.
 */
const enoughOf = (part: string) =>
  mayBeOfId(part) ? part.slice(-12) : part.replace(/^[a-z0-9]{1,2}(?:[._-][a-z0-9]{1,2})*(?=[._-][a-z0-9]{2})/i, '')

/** Whether it can stand in an id or a commit. */
const mayBeOfId = (part: string) => /^[0-9a-f-]+$/i.test(part)

/** Whether the index of trigrams excludes most tasks. */
const hasTrigrams = (part: string) => /[\p{L}\p{N}]{3}/u.test(part)

const partsAround = (text: string): [string, string][] =>
  [...text.matchAll(/:/g)].map(({ index }) => [text.slice(0, index), text.slice(index + 1)])
