import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { TaskRecord } from '../../contract/task.ts'
import { startWorld, withToken } from '../../test/support/world.ts'

const count = 20
const rivals = 5
const waves = 3
const limitMs = 20 * 60_000

test('owners killed at random moments: one rollback at most for a failure, one commit at most for a rollback, and no newer value lost', {
  timeout: limitMs,
}, async () => {
  const apps = Array.from({ length: count }, (_, at) => `back-${at}`)
  await using world = await startWorld({
    replicas: 2,
    applications: apps,
    settings: { BAD_POD_GRACE: '1', ON_FAILURE: 'rollback' },
  })
  const { git } = world.simulator
  const [one, two] = world.running
  let kills = 0
  for (let wave = 0; wave < waves; wave += 1) {
    const [good, bad, newer] = [`v${wave}-good`, `v${wave}-bad`, `v${wave}-newer`]
    for (const app of apps) world.hold(app, 'crashes', good, newer)
    await endAll(await Promise.all(apps.map((app) => world.deploy(app, good))))
    let goesOn = true
    const killing = (async () => {
      while (goesOn) {
        await delay(500 + Math.random() * 2_000)
        const victim = kills % 2 === 0 ? one : two
        kills += 1
        await victim?.kill('SIGKILL')
        await victim?.restart()
      }
    })()
    const failed = await endAll(await Promise.all(apps.map((app) => deployTo(app, bad))))
    // A rival writes into some of the files, whatever the rollbacks are doing.
    for (const task of failed.slice(0, rivals)) {
      const file = task.file ?? ''
      const text = (await git.readFile('gitops', file)) ?? ''
      await git.commit('gitops', { [file]: text.replace(/v\d-(?:bad|good)/, newer) })
    }
    const rollbacks = await endAll(failed.flatMap(({ rolled_back_by: id }) => id ?? []))
    goesOn = false
    await killing
    const rows = await world.rows<{ rollbacks: string }>(
      'SELECT count(*) AS rollbacks FROM watcher.tasks WHERE rollback_of = ANY ($1::uuid[])',
      [failed.map(({ id }) => id)],
    )
    const log = await git.log('gitops')
    const commitsOf = ({ id }: TaskRecord) =>
      log.filter(({ message }) => message.includes(`Watcher-Task: ${id}`)).length
    const tags = await Promise.all(
      failed.map(async ({ file = '' }) => /v\d-\w+/.exec((await git.readFile('gitops', file)) ?? '')?.[0]),
    )
    const outdated = rollbacks.filter(({ cause }) => cause === 'rollback_outdated').length
    console.info(
      `wave ${wave + 1}: ${failed.length} failed, ${rows[0]?.rollbacks} rollbacks, ${outdated} came too late, ${kills} kills so far`,
    )
    expect(new Set(failed.map(({ status }) => status))).toEqual(new Set(['failed']))
    expect(Number(rows[0]?.rollbacks)).toBe(count)
    expect(Math.max(...rollbacks.map(commitsOf))).toBe(1)
    expect(tags.slice(0, rivals).map((tag) => tag === newer)).toEqual(Array(rivals).fill(true))
    expect(new Set(tags.slice(rivals))).toEqual(new Set([good]))
  }

  /** A killed replica answers nothing; the pipeline asks the other one. */
  async function deployTo(app: string, tag: string): Promise<string> {
    for (;;) {
      for (const replica of [one, two]) {
        const task = { app, author: 'ada', project: 'shop', images: [{ image: `registry.example/${app}`, tag }] }
        const answer = await replica?.submitTask(task, withToken).catch(() => undefined)
        if (answer?.status === 202) return (answer.body as { id: string }).id
      }
      await delay(200)
    }
  }

  async function endAll(ids: readonly string[]): Promise<TaskRecord[]> {
    const ended: TaskRecord[] = []
    for (const id of ids) {
      for (;;) {
        const task = (await Promise.all([one, two].map((replica) => replica?.getTask(id).catch(() => undefined)))).find(
          (found) => found !== undefined && found.status !== 'in progress',
        )
        if (task !== undefined) {
          ended.push(task)
          break
        }
        await delay(200)
      }
    }
    return ended
  }
})
