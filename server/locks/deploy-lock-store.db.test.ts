import { expect, test } from 'vitest'
import { openFileDatabase } from '../../test/support/database.ts'
import { createDeployLockStore } from './deploy-lock-store.ts'
import { evaluateDeployLock, type LockdownCalendar } from './evaluate-deploy-lock.ts'

const { database } = await openFileDatabase()
const minuteMs = 60_000

test('an override ends with its lockdown window: the next one locks, however soon it begins', async () => {
  const store = createDeployLockStore(database)
  const { at } = await store.read()
  const after = (minutes: number) => new Date(at.getTime() + minutes * minuteMs)
  const closed: LockdownCalendar = {
    known: { from: after(-1_000), to: after(1_000) },
    intervals: [
      { from: after(-60), to: after(5) },
      { from: after(10), to: after(60) },
    ],
  }
  await store.release(() => closed, { kind: 'session', id: 'ada', name: 'ada' })
  const { stored } = await store.read()
  const isActiveAfter = (minutes: number) => evaluateDeployLock(after(minutes), closed, stored).active
  expect([1, 4, 7, 11].map(isActiveAfter)).toEqual([false, false, false, true])
  expect(evaluateDeployLock(after(1), closed, stored).nextWindow).toEqual({ from: after(10), to: after(60) })
})

test('a release inside a lockdown window opens it for a quarter of an hour, and setting the lock ends that', async () => {
  const store = createDeployLockStore(database)
  const actor = { kind: 'session', id: 'ada', name: 'ada' } as const
  const { at: began } = await store.read()
  const whole = { from: new Date(began.getTime() - 60 * minuteMs), to: new Date(began.getTime() + 60 * minuteMs) }
  const closed: LockdownCalendar = { known: whole, intervals: [whole] }
  const activeAfter = async () => {
    const { at, stored } = await store.read()
    const isActiveAfter = (minutes: number) =>
      evaluateDeployLock(new Date(at.getTime() + minutes * minuteMs), closed, stored).active
    return [0, 14, 16].map(isActiveAfter)
  }
  await store.release(() => closed, actor)
  expect(await activeAfter()).toEqual([false, false, true])
  await store.set({ reason: null, until: null }, actor)
  expect(await activeAfter()).toEqual([true, true, true])
})

test('each edge of the schedule and each end by time is told once, whatever the number of replicas', async () => {
  const actor = { kind: 'session', id: 'ada', name: 'ada' } as const
  const replicas = [1, 2, 3].map(() => createDeployLockStore(database, () => true))
  const [store] = replicas
  const told = async () => {
    const rows = await database.query.selectFrom('outbox').select('data').orderBy('id').execute()
    return rows.map(({ data }) => [data?.active, data?.source, data?.changed_by])
  }
  const { at } = await createDeployLockStore(database).read()
  const whole = { from: new Date(at.getTime() - 60 * minuteMs), to: new Date(at.getTime() + 60 * minuteMs) }
  const look = (intervals: LockdownCalendar['intervals']) =>
    Promise.all(replicas.map((replica) => replica.tellEdge(() => ({ known: whole, intervals }))))
  await store?.release(() => ({ known: whole, intervals: [] }), actor)
  await database.query.deleteFrom('outbox').execute()
  await look([])
  await look([whole])
  await look([whole])
  expect(await told()).toEqual([[true, 'schedule', null]])
  await look([])
  expect((await told()).at(-1)).toEqual([false, null, null])
  await store?.set({ reason: null, until: new Date(at.getTime() + 60 * minuteMs) }, actor)
  await look([])
  expect((await told()).slice(2)).toEqual([[true, 'manual', 'ada']])
  await database.query.updateTable('deploy_lock').set({ until: at }).execute()
  await look([])
  expect((await told()).slice(3)).toEqual([[false, null, null]])
})
