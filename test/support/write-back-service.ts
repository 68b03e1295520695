import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { onTestFinished } from 'vitest'
import { parseTemplate } from '../../gotemplate/template.ts'
import { type Database, openDatabase } from '../../server/storage/database.ts'
import { openGitAccess } from '../../server/write-back/git/access/git-access.ts'
import type { AppTokens } from '../../server/write-back/git/access/https-environment.ts'
import { createCommitHistory } from '../../server/write-back/git/history/commit-history.ts'
import { commitMessage } from '../../server/write-back/plan/commit-message.ts'
import type { WriteBackPlan } from '../../server/write-back/plan/plan-write-back.ts'
import type { WriteBackSettings } from '../../server/write-back/plan/write-back-settings.ts'
import { createWriteBack } from '../../server/write-back/queue/write-back.ts'
import { createTestDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { insertOwnedTask, shopImage } from './insert-owned-task.ts'

let replicas = 0

export async function aDatabase(): Promise<Database> {
  const made = await createTestDatabase()
  const database = openDatabase(made.settings, () => {})
  onTestFinished(async () => {
    await database[Symbol.asyncDispose]()
    await made[Symbol.asyncDispose]()
  })
  return database
}

export async function aReplica(database: Database): Promise<string> {
  const id = randomUUID()
  replicas += 1
  await database.query
    .insertInto('replicas')
    .values({ id, lock_key: String(replicas) })
    .execute()
  return id
}

export type TaskExample = {
  app?: string
  tag?: string
  repository: string
  /** What git gets; the repository as it is spelled, unless given. */
  address?: string
  seconds?: number
  file?: string
  branch?: string
  /** COMMIT_MESSAGE_FORMAT */
  format?: string
  commitTrailer?: boolean
}

/** A task in progress that the replica owns, and the plan of its write-back. */
export async function aTaskWithPlan(
  database: Database,
  owner: string,
  {
    app = 'shop',
    tag = 'v2',
    seconds = 150,
    repository,
    address = repository,
    branch = 'main',
    file,
    format,
    commitTrailer = true,
  }: TaskExample,
) {
  const claim = await insertOwnedTask(database.query, owner, { app, tag, seconds })
  const id = claim.taskId
  const task = { id, app, author: 'ada', project: 'shop', images: [{ image: shopImage, tag }] }
  const plan: WriteBackPlan = {
    app,
    repository,
    address,
    branch,
    file: file ?? `apps/.watcher-source-${app}.yaml`,
    tool: 'helm',
    entries: [{ name: 'image.tag', value: tag, image: shopImage }],
    sourceEntries: [],
    message: commitMessage(task, {
      commitMessageFormat: format === undefined ? undefined : parseTemplate('COMMIT_MESSAGE_FORMAT', format),
      commitTrailer,
    }).text,
  }
  return { id, plan, claim }
}

/** One replica's write-back on real storage, with a task and its plan for each `queue`. */
export async function aWriteBackService(
  settings: WriteBackSettings,
  database: Database,
  searchPath = process.env.PATH ?? '',
  tokens?: AppTokens,
) {
  const owner = await aReplica(database)
  const access = await openGitAccess(settings, searchPath, tokens)
  const history = createCommitHistory({ access, nowMs: Date.now, onError: () => {} })
  const writeBack = createWriteBack({
    database,
    settings,
    access,
    history,
    replicaId: () => owner,
    wakeUps: { send: () => {}, on: () => () => {} },
    log: { warn: () => {} },
    measures: { writeBackBegan: () => {}, writeBackEnded: () => {}, pushed: () => {} },
    nowMs: Date.now,
    random: Math.random,
  })
  onTestFinished(async () => {
    await writeBack[Symbol.asyncDispose]()
    await access[Symbol.asyncDispose]()
    await rm(settings.repoCachePath, { recursive: true, force: true })
  })

  async function queue(repository: string, example: Omit<TaskExample, 'repository'> = {}): Promise<string> {
    const { id, plan, claim } = await aTaskWithPlan(database, owner, { ...example, repository })
    await writeBack.queue(claim, plan)
    return id
  }

  return {
    access,
    history,
    owner,
    queue,
    outcome: (id: string) =>
      eventually(async () => {
        const found = await writeBack.outcomeOf(id)
        if (!found) throw new Error('no outcome yet')
        return found
      }),
    events: (id: string) =>
      database.query
        .selectFrom('task_events')
        .select(['kind', 'detail'])
        .where('task_id', '=', id)
        .orderBy('row_id')
        .execute(),
  }
}
