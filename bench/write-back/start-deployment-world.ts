import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import { aTask, type Service, startService, withoutLimits } from '../../test/support/service.ts'
import { inTurns } from '../support/in-turns.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { startInstallation } from '../support/start-installation.ts'
import { configure, overridePath } from './generated-repository.ts'
import { startSshHost } from './start-ssh-host.ts'

const deployToken = 'deploy-token-of-the-bench'
const pollMs = 100

export type DeploymentWorld = Awaited<ReturnType<typeof startDeploymentWorld>>

export type Submission = {
  readonly id: string
  readonly app: string
  readonly postedAtMs: number
  readonly acceptedAtMs: number
}

export type TaskEnd = {
  readonly id: string
  readonly app: string
  readonly status: string
  readonly reason: string | null
  readonly commit: string | null
}

type Options = {
  readonly settings?: Readonly<Record<string, string>>
  /** Folders of programs that come before all others, for the service alone; made in the folder that is given. */
  readonly programs?: (folder: string) => Promise<string>
}

/** PostgreSQL, the simulator, a Git host over SSH, and replicas of the service as processes: from the POST to the commit. */
export async function startDeploymentWorld({ settings = {}, programs }: Options = {}) {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'dw-'))
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const postgres = started.use(await startBenchPostgres())
  const { remote: installation } = started.use(await startInstallation())
  const { argoUrl, argoToken, repositories } = await installation.connection()
  const host = started.use(await startSshHost(repositories))
  const searchPath = programs === undefined ? {} : { PATH: `${await programs(folder)}:${process.env.PATH}` }
  const cachePath = path.join(folder, 'cache')
  const services: Service[] = []
  const replicas = started.use(new AsyncDisposableStack())
  const startReplica = async (own: Readonly<Record<string, string>> = {}) => {
    const service = replicas.use(
      await startService({
        databaseUrl: postgres.url,
        settings: {
          ...withoutLimits,
          ARGO_URL: argoUrl,
          ARGO_TOKEN: argoToken,
          WATCHER_DEPLOY_TOKEN: deployToken,
          SSH_KEY_PATH: host.keyPath,
          SSH_KNOWN_HOSTS: host.knownHostsPath,
          REPO_CACHE_PATH: cachePath,
          LOG_LEVEL: 'error',
          ...searchPath,
          ...settings,
          ...own,
        },
      }),
    )
    services.push(service)
    return service
  }
  await startReplica()
  const pool = new Pool({ connectionString: postgres.url, max: 3 })
  started.defer(() => pool.end())
  const stack = started.move()

  const rows = async <Row extends object>(query: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await pool.query<Row>(query, [...values])).rows

  async function submit(app: string, tag: string, seconds: number, at: number): Promise<Submission> {
    const task = aTask({ app, images: [{ image: `registry.example/${app}`, tag }], timeout: seconds })
    const service = services[at % services.length]
    const postedAtMs = Date.now()
    const answer = await service?.submitTask(task, { 'Watcher-Deploy-Token': deployToken })
    if (answer?.status !== 202) throw new Error(`not accepted: ${JSON.stringify(answer)}`)
    return { id: (answer.body as { id: string }).id, app, postedAtMs, acceptedAtMs: Date.now() } // checked by the status
  }

  return {
    installation,
    host,
    services,
    startReplica,
    cachePath,
    folder,
    rows,
    submit,
    /** A repository with charts of these applications, as the Git host keeps it. */
    async createRepository(name: string, apps: readonly string[]): Promise<string> {
      await installation.createRepository(name, apps)
      await configure(host.directory(name))
      return host.directory(name)
    },
    deploy: (apps: readonly string[], tag: string, seconds = 600, atOnce = apps.length) =>
      inTurns([...apps.entries()], atOnce, ([at, app]) => submit(app, tag, seconds, at)),
    async untilEnded(submissions: readonly Submission[], limitMs = 300_000): Promise<TaskEnd[]> {
      const ids = submissions.map(({ id }) => id)
      for (const limit = performance.now() + limitMs; ; await delay(pollMs)) {
        const found = await rows<TaskEnd>(
          `SELECT id, app, status, status_reason AS reason, commit FROM watcher.tasks
           WHERE id = ANY($1) AND status <> 'in progress'`,
          [ids],
        )
        if (found.length === ids.length) return found
        if (performance.now() > limit)
          throw new Error(`${ids.length - found.length} of ${ids.length} tasks did not end`)
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

/** What verifyRepository has to find: the file of each task whose record names a commit of its own. */
export async function landedTasks({ rows }: DeploymentWorld): Promise<ReadonlyMap<string, string>> {
  const found = await rows<{ id: string; app: string }>(
    `SELECT DISTINCT t.id, t.app FROM watcher.tasks t JOIN watcher.task_events e ON e.task_id = t.id AND e.kind = 'commit_pushed'`,
  )
  return new Map(found.map(({ id, app }) => [id, overridePath(app)]))
}
