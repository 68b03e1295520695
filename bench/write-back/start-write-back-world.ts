import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Service, startService } from '../../test/support/service.ts'
import { startBenchPostgres } from '../support/start-bench-postgres.ts'
import { startSshHost } from './start-ssh-host.ts'
import { startTaskAuthor } from './task-author.ts'

export type WriteBackWorld = Awaited<ReturnType<typeof startWriteBackWorld>>

type Options = {
  readonly replicas?: number
  readonly settings?: Readonly<Record<string, string>>
}

/** PostgreSQL, a Git host over SSH, and replicas of the service as processes, which get their writes from a task author. */
export async function startWriteBackWorld({ replicas = 1, settings = {} }: Options = {}) {
  await using started = new AsyncDisposableStack()
  const folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-bench-'))
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const host = started.use(await startSshHost(folder))
  const postgres = started.use(await startBenchPostgres())
  const cachePath = path.join(folder, 'cache')
  const start = () =>
    startService({
      databaseUrl: postgres.url,
      settings: {
        SSH_KEY_PATH: host.keyPath,
        SSH_KNOWN_HOSTS: host.knownHostsPath,
        REPO_CACHE_PATH: cachePath,
        LOG_LEVEL: 'error',
        ...settings,
      },
    })
  const services: Service[] = []
  for (let at = 0; at < replicas; at += 1) services.push(started.use(await start()))
  const author = started.use(await startTaskAuthor(postgres.url))
  const [service] = services
  if (service === undefined) throw new Error('a world needs a replica')
  const stack = started.move()
  return {
    host,
    author,
    services,
    service,
    cachePath,
    databaseUrl: postgres.url,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}
