import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, type TestContext, test, vi } from 'vitest'
import { overrideFile } from '../../simulator/model/example-repository.ts'
import { createTestDatabase } from '../../test/support/database.ts'
import { aTask, type Service } from '../../test/support/service.ts'
import { type Replica, startWorld, type World, withToken } from '../../test/support/world.ts'

const file = 'apps/shop/.argocd-source-shop.yaml'
const patient = { timeout: 40_000, interval: 50 }

/** Holds one push that has been sent and not yet been taken over by the branch, until it is let go. */
async function createGate(repository: string) {
  const armed = path.join(repository, 'hold-the-next-push')
  const held = path.join(repository, 'a-push-is-held')
  const hook = path.join(repository, 'hooks', 'pre-receive')
  await writeFile(
    hook,
    `#!/bin/sh\nmv ${armed} ${held} 2>/dev/null && while [ -e ${held} ]; do sleep 0.05; done\nexit 0\n`,
  )
  await chmod(hook, 0o755)
  return {
    holdNext: () => writeFile(armed, ''),
    untilHeld: () => vi.waitFor(() => readFile(held), patient),
    letGo: () => rm(held, { force: true }),
  }
}

const submit = (to: Service, tag: string) =>
  to.acceptTask(aTask({ images: [{ image: 'registry.example/shop', tag }] }), withToken)

type Process = { readonly pid: number; readonly parent: number; readonly command: string }

async function processes(): Promise<readonly Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = pids.map(async (pid): Promise<Process[]> => {
    const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '') // it may be gone by now
    const parent = /^PPid:\s+(\d+)$/m.exec(await read('status'))?.[1]
    return [{ pid: Number(pid), parent: Number(parent), command: (await read('cmdline')).replaceAll('\0', ' ') }]
  })
  return (await Promise.all(found)).flat()
}

/** The replica that pushes, and the processes of that push. */
async function pusherOf({ running }: World) {
  const all = await processes()
  const push = all.find(({ command, parent }) => / push /.test(command) && running.some((one) => one.pid() === parent))
  const replica = running.find((one) => one.pid() === push?.parent)
  const other = running.find((one) => one !== replica)
  if (!push || !replica || !other) throw new Error('nobody pushes')
  return { replica, other, pids: [push.pid, ...all.filter(({ parent }) => parent === push.pid).map(({ pid }) => pid)] }
}

/** Stops a replica with the push it has under way. */
async function freeze(replica: Replica, pids: readonly number[], { onTestFinished }: TestContext) {
  await replica.kill('SIGSTOP')
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  const thaw = async () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
    await replica.kill('SIGCONT')
  }
  onTestFinished(() => thaw().catch(() => undefined)) // thawed already
  return thaw
}

type Case = {
  readonly what: string
  /** What a newer task asks for while the older one's push is held; the branch begins at v1. */
  readonly newer: string
  /** Somebody else's commit: while the push is held, or on top of the late one. */
  readonly rival?: 'meanwhile' | 'on top'
  readonly ends: string
  /** The tags of the service's own commits, oldest first. */
  readonly written: readonly string[]
}

const cases: readonly Case[] = [
  { what: 'the newer one commits meanwhile', newer: 'v3', ends: 'v3', written: ['v1', 'v3'] },
  {
    what: 'the newer one commits on top of a rival',
    newer: 'v3',
    rival: 'meanwhile',
    ends: 'v3',
    written: ['v1', 'v3'],
  },
  {
    what: 'the newer one finds its tag there, and the late commit stays',
    newer: 'v1',
    ends: 'v2',
    written: ['v1', 'v2'],
  },
  {
    what: 'a rival commits on top of the late one',
    newer: 'v1',
    rival: 'on top',
    ends: 'v9',
    written: ['v1', 'v2'],
  },
]

// They mostly wait for the frozen owner to be given up.
describe.concurrent('the owner of a repository freezes inside of its push, and its task is superseded (product: tasks)', () => {
  test.for(cases)('$what', { timeout: 180_000 }, async ({ newer, rival, ends, written }, context) => {
    const { expect } = context
    await using database = await createTestDatabase()
    await using replicas = await startWorld({ parts: ['argo cd', 'lines'], databaseUrl: database.url, replicas: 2 })
    const { git } = replicas.simulator
    const [first] = replicas.running
    if (!first) throw new Error('no replica')
    await first.waitForEnd(await submit(first, 'v1'))
    const gate = await createGate(replicas.repositoryFolder)

    await gate.holdNext()
    const late = await submit(first, 'v2')
    await gate.untilHeld()
    const { replica, other, pids } = await pusherOf(replicas)
    const thaw = await freeze(replica, pids, context)
    const foreign = { 'notes.md': 'by somebody else' }
    if (rival === 'meanwhile') await git.commit('gitops', foreign, { message: 'rival' })
    const id = await submit(other, newer)
    expect(await other.waitForEnd(id, 45_000)).toMatchObject({ status: 'deployed' })

    const before = await git.head('gitops')
    await gate.letGo()
    if (rival === 'on top') {
      await vi.waitFor(async () => expect(await git.head('gitops')).not.toBe(before), { timeout: 10_000, interval: 2 })
      await git.commit('gitops', { [file]: overrideFile('v9') }, { message: 'rival' })
    }
    await thaw()

    const isSettled = async () =>
      expect(
        await replicas.rows("SELECT state FROM watcher.pending_writes WHERE state IN ('queued', 'pushing')"),
      ).toEqual([])
    await vi.waitFor(async () => {
      expect(await tagsIn(replicas)).toEqual(written) // what it ends at may be there before the late push is
      expect(await git.readFile('gitops', file)).toBe(overrideFile(ends))
      await isSettled()
    }, patient)
    // Two more sweeps of the thawed replica and of the other change nothing.
    const watched = async () =>
      expect(await Promise.all([replica, other].map((one) => one.watchedCount()))).toEqual([0, 0])
    await vi.waitFor(watched, patient)
    const log = await git.log('gitops')
    expect(log.some(({ message }) => message.startsWith('rival'))).toBe(rival !== undefined)
    expect(await tagsIn(replicas)).toEqual(written)
    const own = log.find(({ message }) => message.includes(`Watcher-Task: ${late}`))
    const record = { status: 'cancelled', cause: 'superseded' }
    const told = "SELECT detail FROM watcher.task_events WHERE kind = 'commit_pushed' AND task_id = $1"
    const tellsOfIt = async () => {
      expect(await other.getTask(late)).toMatchObject(own ? { ...record, commit: own.sha } : record)
      expect(await replicas.rows(told, [late])).toHaveLength(own ? 1 : 0)
    }
    await vi.waitFor(tellsOfIt, patient)
    expect(await other.getTask(id)).toMatchObject({ status: 'deployed' })
  })
})

/** What each commit of the service wrote, oldest first. */
async function tagsIn({ simulator, commits }: World): Promise<string[]> {
  const own = (await commits()).toReversed()
  const texts = await Promise.all(own.map(({ sha }) => simulator.git.readFile('gitops', file, sha)))
  return texts.map((text) => /value: "(.+)"/.exec(text ?? '')?.[1] ?? '')
}
