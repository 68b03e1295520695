import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Cause } from '../../../contract/causes.ts'
import { openFileDatabase } from '../../../test/support/database.ts'
import { insertOwnedTask, shopImage } from '../../../test/support/insert-owned-task.ts'
import { neverClosed } from '../../locks/evaluate-deploy-lock.ts'
import { createFinishTask } from './finish-task.ts'

const { database } = await openFileDatabase()
const { query } = database
const owner = randomUUID()
const finishWith = (onFailure: 'rollback' | 'none') =>
  createFinishTask({
    database,
    settings: { onFailure, isAllowedWhileLocked: false },
    calendarAround: () => neverClosed,
    isTold: () => false,
  })
const failedAs = (cause: Cause) => ({ status: 'failed' as const, cause })
const timelineOf = async (id: string) =>
  (await query.selectFrom('task_events').select('detail').where('task_id', '=', id).execute()).map(
    ({ detail }) => detail,
  )

/** An owned task that committed `tag`, after another one deployed v1. */
async function aCommit(app: string, tag = 'v2') {
  const before = await insertOwnedTask(query, owner, { app, tag: 'v1', seconds: 60 })
  await query
    .updateTable('tasks')
    .set({ status: 'deployed', repositories: [shopImage], created: sql`created - interval '1 minute'` })
    .where('id', '=', before.taskId)
    .execute()
  const claim = await insertOwnedTask(query, owner, { app, tag, seconds: 60 })
  await query
    .updateTable('tasks')
    .set({ repositories: [shopImage] })
    .where('id', '=', claim.taskId)
    .execute()
  const plan = { entries: [{ name: 'image.tag', value: tag, image: shopImage }] }
  await query
    .insertInto('pending_writes')
    .values({
      task_id: claim.taskId,
      repository: 'r',
      branch: 'main',
      address: 'r',
      state: 'landed',
      plan: JSON.stringify(plan),
      replaced: JSON.stringify({ 'image.tag': 'v1' }),
    })
    .execute()
  return claim
}

test('the end and the rollback are one, and the rollback itself is never rolled back', async () => {
  const claim = await aCommit('one')
  const ended = await finishWith('rollback')(claim, failedAs('crash_loop'))
  const id = ended?.rolledBackBy ?? ''
  const row = await query.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  expect(row).toMatchObject({
    rollback_of: claim.taskId,
    author: 'deployment-watcher',
    status: 'in progress',
    owner: null,
  })
  const again = { taskId: id, owner, fence: '1' }
  await query.updateTable('tasks').set({ owner, fence: '1' }).where('id', '=', id).execute()
  expect((await finishWith('rollback')(again, failedAs('crash_loop')))?.rolledBackBy).toBeUndefined()
})

test('of two owners that end it one does', async () => {
  const claim = await aCommit('two')
  const ends = await Promise.all([1, 2, 3].map(() => finishWith('rollback')(claim, failedAs('timeout'))))
  expect(ends.filter((end) => end !== undefined)).toHaveLength(1)
  const rollbacks = await query.selectFrom('tasks').select('id').where('rollback_of', '=', claim.taskId).execute()
  expect(rollbacks).toHaveLength(1)
})

test.for<[Cause, boolean]>([
  ['image_pull', true],
  ['image_name', true],
  ['container_config', true],
  ['crash_loop', true],
  ['probe_failing', true],
  ['degraded', true],
  ['hook_failed', true],
  ['sync_error', true],
  ['timeout', true],
  ['rollout_aborted', true],
  ['analysis_failed', true],
  ['git_refused', false],
  ['sync_window', false],
  ['quota_exceeded', false],
  ['unschedulable', false],
  ['comparison_error', false],
])('%s: rolled back: %s', async ([cause, isRolledBack]) => {
  const ended = await finishWith('rollback')(await aCommit(`of-${cause}`), failedAs(cause))
  expect(ended?.rolledBackBy !== undefined).toBe(isRolledBack)
})

test('a newer task keeps its place', async () => {
  const claim = await aCommit('three')
  const newer = await insertOwnedTask(query, owner, { app: 'three', tag: 'v3', seconds: 60 })
  await query
    .updateTable('tasks')
    .set({ repositories: [shopImage] })
    .where('id', '=', newer.taskId)
    .execute()
  expect((await finishWith('rollback')(claim, failedAs('crash_loop')))?.rolledBackBy).toBeUndefined()
  expect(await timelineOf(claim.taskId)).toContain('not rolled back: a newer task of the application exists')
})

test('the submission comes before the setting', async () => {
  const claim = await aCommit('four')
  await query.updateTable('tasks').set({ on_failure: 'none' }).where('id', '=', claim.taskId).execute()
  expect((await finishWith('rollback')(claim, failedAs('crash_loop')))?.rolledBackBy).toBeUndefined()
  const other = await aCommit('five')
  await query.updateTable('tasks').set({ on_failure: 'rollback' }).where('id', '=', other.taskId).execute()
  expect((await finishWith('none')(other, failedAs('crash_loop')))?.rolledBackBy).toBeDefined()
})
