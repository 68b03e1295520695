import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { endTask } from '../../server/deployments/own/end-task.ts'
import { saveProgress } from '../../server/deployments/own/save-progress.ts'
import { nodeFlags } from '../../server/node-flags.mjs'
import { createNotificationStore } from '../../server/notify/outbox/notification-store.ts'
import { openFileDatabase, serviceUrlOf } from '../../test/support/database.ts'
import { insertOwnedTask } from '../../test/support/insert-owned-task.ts'

const taskCount = 10_000
const atOnce = 250
/** So many tasks end only after their start was expanded, so that it is told too. */
const toldFromTheStart = 1_000
const killEveryMs = 5_000
const limitMs = 20 * 60_000
const secret = `whsec_${Buffer.from('a key of the proof, 32 bytes long').toString('base64')}`
const { database, testDatabase } = await openFileDatabase({ maxConnections: 16 })

/** What a receiver has taken: which events of which task, and under which ids. */
const taken = new Map<string, { readonly id: string; readonly type: string }[]>()
const count = { requests: 0, failed: 0, invalid: 0 }
const receiver = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  count.requests += 1
  if (Math.random() < 0.3) {
    count.failed += 1
    const how = Math.random()
    if (how < 0.4) return void response.writeHead(500).end()
    if (how < 0.6) return void response.writeHead(429, { 'retry-after': '0' }).end()
    if (how < 0.8) return void request.socket.destroy()
    return void response.writeHead(503).end()
  }
  const headers = request.headers as Record<string, string>
  try {
    const { type, data } = new Webhook(secret).verify(body, headers) as { type: string; data: { id: string } }
    const key = `${request.url} ${data.id}`
    const of = taken.get(key) ?? []
    taken.set(key, of)
    of.push({ id: headers['webhook-id'] ?? '', type })
  } catch {
    count.invalid += 1
  }
  return void response.writeHead(204).end()
})

test('10,000 tasks, two targets that fail 30 % of the time, three senders of which one is killed every 5 s', {
  timeout: limitMs,
}, async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const target = (path: string) => ({
    kind: 'webhook',
    url: `${address}${path}`,
    secret: { env: 'HOOK_SECRET' },
    allow_private: true,
    logs: false,
  })
  const env = {
    ...process.env,
    DATABASE_URL: serviceUrlOf(testDatabase.url),
    TARGETS: JSON.stringify({ one: target('/one'), two: target('/two') }),
    HOOK_SECRET: secret,
  }
  const program = fileURLToPath(new URL('notification-sender.ts', import.meta.url))
  const start = () => spawn(process.execPath, [...nodeFlags, program], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const senders: ChildProcess[] = [start(), start(), start()]
  let kills = 0
  const killer = setInterval(() => {
    const victim = kills % senders.length
    kills += 1
    senders[victim]?.kill('SIGKILL')
    senders[victim] = start()
  }, killEveryMs)
  try {
    const ids = await endTasks()
    const store = createNotificationStore(database)
    const open = async () => {
      const { rows } = await sql<{ open: string }>`
          SELECT (SELECT count(*) FROM watcher.outbox)
            + (SELECT count(*) FROM watcher.deliveries WHERE state = 'due') AS open`.execute(database.query)
      return Number(rows[0]?.open)
    }
    for (const deadline = Date.now() + limitMs; (await open()) > 0 && Date.now() < deadline; ) await delay(1_000)
    const lost: string[] = []
    let outOfOrder = 0
    let told = 0
    let repeated = 0
    let underOtherIds = 0
    for (const id of ids)
      for (const path of ['/one', '/two']) {
        const of = taken.get(`${path} ${id}`) ?? []
        const types = of.map(({ type }) => type)
        if (types.includes('deployment.started')) told += 1
        if (!types.includes('deployment.succeeded')) lost.push(`${path} ${id}`)
        if (types.lastIndexOf('deployment.started') > types.indexOf('deployment.succeeded')) outOfOrder += 1
        repeated += of.length - new Set(of.map((one) => one.id)).size
        underOtherIds += new Set(of.map((one) => one.id)).size - new Set(types).size
      }
    console.info(
      `${count.requests} requests, ${count.failed} failed, ${kills} kills, ${repeated} repeated under the same id, ` +
        `${told} told from their start, ${lost.length} lost, ${outOfOrder} out of order, ${underOtherIds} under another id, ${count.invalid} with a wrong signature`,
    )
    expect({ lost, outOfOrder, underOtherIds, invalid: count.invalid, dead: await store.list('dead') }).toEqual({
      lost: [],
      outOfOrder: 0,
      underOtherIds: 0,
      invalid: 0,
      dead: [],
    })
  } finally {
    clearInterval(killer)
    for (const sender of senders) sender.kill('SIGKILL')
    receiver.closeAllConnections()
    receiver.close()
  }
})

/** Each task is first seen in Argo CD, then ends, by the statements of the service. */
async function endTasks(): Promise<string[]> {
  const ids: string[] = []
  const { settings } = database
  const owner = randomUUID()
  for (let from = 0; from < taskCount; from += atOnce) {
    const claims = await Promise.all(
      Array.from({ length: atOnce }, (_, index) =>
        insertOwnedTask(database.query, owner, { app: `app-${from + index}`, tag: 'v1', seconds: 900 }),
      ),
    )
    for (const claim of claims) {
      await saveProgress(database, claim, { appUrl: 'https://argocd.example/applications/shop' }, [], true)
      ids.push(claim.taskId)
    }
    if (from < toldFromTheStart) await untilExpanded()
    for (const claim of claims)
      await endTask(database.query, settings, {
        taskId: claim.taskId,
        claim,
        end: { status: 'deployed' },
        isTold: true,
      })
  }
  return ids
}

async function untilExpanded(): Promise<void> {
  for (;;) {
    const { left } = await database.query
      .selectFrom('outbox')
      .select(({ fn }) => fn.countAll<string>().as('left'))
      .executeTakeFirstOrThrow()
    if (Number(left) === 0) return
    await delay(100)
  }
}
