import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { endTask } from '../../server/deployments/own/end-task.ts'
import { saveProgress } from '../../server/deployments/own/save-progress.ts'
import { nodeFlags } from '../../server/node-flags.mjs'
import { openFileDatabase, serviceUrlOf } from '../../test/support/database.ts'
import { startGitHubDouble } from '../../test/support/github-double.ts'
import { startGitLabDouble } from '../../test/support/gitlab-double.ts'
import { insertOwnedTask } from '../../test/support/insert-owned-task.ts'

const kills = 200
const limitMs = 15 * 60_000
/** From its first request on. */
const maxLifeMs = 600
const maxTaskMs = 4_000
const statuses = ['deployed', 'failed', 'cancelled', 'aborted'] as const
const gitHubStates = { deployed: 'success', failed: 'failure', cancelled: 'inactive', aborted: 'error' }
const gitLabStates = { deployed: 'success', failed: 'failed', cancelled: 'canceled', aborted: 'failed' }
const { database, testDatabase } = await openFileDatabase({ maxConnections: 8 })
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value

test('200 kills of a sender at random moments: one deployment for a task, and its last status is right', {
  timeout: limitMs,
}, async () => {
  await using gitHub = await startGitHubDouble()
  await using gitLab = await startGitLabDouble('team/shop')
  gitHub.install('acme/shop', 'deployments')
  gitHub.delay(150)
  gitLab.delay(150)
  const env = {
    ...process.env,
    DATABASE_URL: serviceUrlOf(testDatabase.url),
    TARGETS: JSON.stringify({
      commits: { kind: 'github', repositories: ['acme/shop'] },
      lab: { kind: 'gitlab', repositories: ['team/shop'], commit_status: false },
    }),
    ...gitHub.settings,
    ...gitLab.settings,
  }
  const program = fileURLToPath(new URL('notification-sender.ts', import.meta.url))
  const requests = () => gitHub.calls().length + gitLab.calls().length
  const start = () => spawn(process.execPath, [...nodeFlags, program], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  const owner = randomUUID()
  const tasks: { id: string; sha: string; isAtGitHub: boolean; status: (typeof statuses)[number] }[] = []
  const ends: Promise<unknown>[] = []

  /** Seen in Argo CD now, and over a moment later. */
  async function addTask(at: number): Promise<void> {
    const isAtGitHub = at % 2 === 0
    const sha = String(at).padStart(40, '0')
    const status = pick(statuses)
    const claim = await insertOwnedTask(database.query, owner, { app: `app-${at}`, tag: 'v1', seconds: 900 })
    const source = { repository: isAtGitHub ? 'acme/shop' : 'team/shop', sha, ref: 'main' }
    await database.query
      .updateTable('tasks')
      .set({ source: JSON.stringify(source), environment: 'production', submitter: JSON.stringify({ kind: 'other' }) })
      .where('id', '=', claim.taskId)
      .execute()
    await saveProgress(database, claim, { appUrl: 'https://argocd.example/applications/shop' }, [], true)
    tasks.push({ id: claim.taskId, sha, isAtGitHub, status })
    const end = { taskId: claim.taskId, claim, end: { status }, isTold: true }
    ends.push(delay(Math.random() * maxTaskMs).then(() => endTask(database.query, database.settings, end)))
  }

  /** The 45 s for which a dead sender keeps what it claimed. */
  const passTime = () => database.query.updateTable('deliveries').set({ claimed_until: null }).execute()

  for (let kill = 0; kill < kills; kill += 1) {
    const before = requests()
    const sender = start()
    const died = once(sender, 'exit')
    try {
      await Promise.all([addTask(2 * kill), addTask(2 * kill + 1)])
      await vi.waitFor(() => expect(requests()).toBeGreaterThan(before), { timeout: 20_000, interval: 10 })
      await delay(Math.random() * maxLifeMs)
    } finally {
      sender.kill('SIGKILL')
    }
    await died
    await delay(200) // its last request may still be carried out
    await passTime()
  }
  await Promise.all(ends)
  const last = start()
  try {
    const open = async () => {
      const { rows } = await sql<{ open: string }>`
        SELECT (SELECT count(*) FROM watcher.outbox)
          + (SELECT count(*) FROM watcher.deliveries WHERE state = 'due') AS open`.execute(database.query)
      return Number(rows[0]?.open)
    }
    await expect.poll(open, { timeout: limitMs, interval: 1_000 }).toBe(0)
  } finally {
    last.kill('SIGKILL')
  }
  const found = tasks.map(({ id, sha, isAtGitHub }) =>
    isAtGitHub
      ? gitHub.ofTask(id).map((one) => one.statuses.map(({ state }) => state))
      : gitLab.deploymentsOf(sha).map(({ states }) => states),
  )
  const expected = tasks.map(({ isAtGitHub, status }) => (isAtGitHub ? gitHubStates : gitLabStates)[status])
  console.info(
    `${kills} kills, ${tasks.length} tasks, ${found.flat().length} deployments, ${found.flat(2).length} states, ` +
      `${requests()} requests`,
  )
  expect(found.map((deployments) => deployments.length)).toEqual(tasks.map(() => 1))
  expect(found.map(([states]) => states?.at(-1))).toEqual(expected)
  expect([...gitHub.refusals(), ...gitLab.refusals()]).toEqual([])
})
