import { expect, test } from 'vitest'
import { isFinal } from '../../contract/task-status.ts'
import { createTestDatabase } from '../../test/support/database.ts'
import { aTask } from '../../test/support/service.ts'
import { startWorld, withToken } from '../../test/support/world.ts'
import { planHistory } from './plan-history.ts'

test('a seed repeats its choices, and another makes other ones', () => {
  expect(planHistory(7, 'safety')).toEqual(planHistory(7, 'safety'))
  expect(planHistory(7, 'safety')).not.toEqual(planHistory(8, 'safety'))
})

test('nobody outside is asked while a transaction is open (invariant I15)', async () => {
  await using database = await createTestDatabase()
  await using replicas = await startWorld({ parts: ['argo cd', 'lines'], databaseUrl: database.url })
  const [replica] = replicas.running
  if (!replica) throw new Error('no replica')
  // A call takes long enough to be told from a busy machine; who asks for the task keeps the process talking meanwhile.
  replica.lines.controller.mood = { delayMs: 2_500 }
  replicas.gitLine.mood = { delayMs: 50 }
  const images = [{ image: 'registry.example/shop', tag: 'v1' }]
  const { body } = await replica.submitTask(aTask({ images }), withToken)
  const { id } = body as { id: string }
  const task = await replica.waitForTask(id, ({ status }) => isFinal(status))
  expect(task).toMatchObject({ status: 'deployed' })
  expect(replica.traffic.callsInTransactions(replicas.gitCalls)).toEqual([])
})
