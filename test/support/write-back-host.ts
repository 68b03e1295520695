import { rm } from 'node:fs/promises'
import { expect, onTestFinished } from 'vitest'
import type { Database } from '../../server/storage/database.ts'
import { openGitAccess } from '../../server/write-back/git/access/git-access.ts'
import { type CommitHistory, createCommitHistory } from '../../server/write-back/git/history/commit-history.ts'
import type { WriteBackSettings } from '../../server/write-back/plan/write-back-settings.ts'
import { createWriteBack, type WriteBackDeps } from '../../server/write-back/queue/write-back.ts'
import { eventually } from './eventually.ts'
import type { startFileGitHost } from './file-git-host.ts'
import { aDatabase, aReplica, aTaskWithPlan, type TaskExample } from './write-back-service.ts'
import { writeBackSettings } from './write-back-settings.ts'

/** A hook that lets a rival's commit in first. */
export const rivalIsFaster = `export GIT_AUTHOR_NAME=r GIT_AUTHOR_EMAIL=r GIT_COMMITTER_NAME=r GIT_COMMITTER_EMAIL=r
   git update-ref refs/heads/main "$(git commit-tree -p main -m rival "main^{tree}")"`

/** By it any machine is fast: it plans a batch in time, so that pushes can be counted. */
export const slowClock = () => Date.now() / 100

type WriteBackExample = Partial<Pick<WriteBackDeps, 'log' | 'nowMs'>> & {
  /** What the search for the commit that set a tag waits for. */
  readonly beforeSearch?: Promise<void>
}

/** Write-backs to repositories on this host. */
export function writeBackTo(host: Awaited<ReturnType<typeof startFileGitHost>>['host']) {
  /** `repository`: its name on the host, or an address. */
  const aTask = (database: Database, owner: string, example: TaskExample) =>
    aTaskWithPlan(database, owner, {
      ...example,
      repository: example.repository.includes(':') ? example.repository : host.url(example.repository),
    })

  async function aWriteBack(
    database: Database,
    replica: string,
    change: Partial<WriteBackSettings> = {},
    { beforeSearch, ...deps }: WriteBackExample = {},
  ) {
    const settings = writeBackSettings(host, change)
    const access = await openGitAccess(settings, process.env.PATH ?? '')
    const made = createCommitHistory({ access, nowMs: Date.now, onError: () => {} })
    const traced: string[] = []
    const history: CommitHistory = {
      ...made,
      trailersBetween(repository, base, tip) {
        traced.push(base)
        return made.trailersBetween(repository, base, tip)
      },
      async commitThatSet(...asked) {
        await beforeSearch
        return made.commitThatSet(...asked)
      },
    }
    const measured: (readonly [string, ...unknown[]])[] = []
    const writeBack = createWriteBack({
      database,
      settings,
      access,
      history,
      replicaId: () => replica,
      wakeUps: { send: () => {}, on: () => () => {} },
      log: { warn: () => {} },
      measures: {
        writeBackBegan: (app, waitedSeconds) => void measured.push(['began', app, waitedSeconds]),
        writeBackEnded: (app, seconds) => void measured.push(['ended', app, seconds]),
        pushed: (commits) => void measured.push(['pushed', commits]),
      },
      nowMs: Date.now,
      random: Math.random,
      ...deps,
    })
    const close = async () => {
      await writeBack[Symbol.asyncDispose]()
      await access[Symbol.asyncDispose]()
      await rm(settings.repoCachePath, { recursive: true, force: true })
    }
    onTestFinished(close)
    return { writeBack, history, traced, measured, close }
  }

  async function aService(change: Partial<WriteBackSettings> = {}, example: WriteBackExample = {}) {
    const database = await aDatabase()
    const replica = await aReplica(database)
    const { writeBack, history, traced, measured, close } = await aWriteBack(database, replica, change, example)
    const task = (example: TaskExample) => aTask(database, replica, example)
    const queue = async (example: TaskExample) => {
      const { id, plan, claim } = await task(example)
      expect(await writeBack.queue(claim, plan)).toBe(true)
      return id
    }
    const outcome = (id: string) =>
      eventually(async () => {
        const found = await writeBack.outcomeOf(id)
        if (!found) throw new Error('no outcome yet')
        return found
      })
    const told = (id: string) =>
      database.query
        .selectFrom('task_events')
        .select(['kind', 'detail'])
        .where('task_id', '=', id)
        .orderBy('row_id')
        .execute()
    const events = async (id: string) => (await told(id)).map(({ kind }) => kind)
    const details = async (id: string) => (await told(id)).map(({ detail }) => detail)
    const row = (id: string) =>
      database.query.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const write = (id: string) =>
      database.query.selectFrom('pending_writes').selectAll().where('task_id', '=', id).executeTakeFirstOrThrow()
    return {
      database,
      replica,
      writeBack,
      history,
      traced,
      measured,
      close,
      task,
      queue,
      outcome,
      events,
      details,
      row,
      write,
    }
  }

  const messages = (repository: string) => host.git(repository, 'log', '--format=%s', 'main')
  const countPushes = (repository: string) =>
    host.commands().filter((command) => command === `git-receive-pack ${repository}`).length

  return { aTask, aWriteBack, aService, messages, countPushes }
}
