import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import type { DeployLockDetails } from '../../contract/deploy-lock.ts'
import type { TaskList, TaskRecord } from '../../contract/task.ts'

const root = join(import.meta.dirname, '../..')

/** The headers every page of the service has. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
}

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

export type ServiceForBrowser = AsyncDisposable & {
  readonly baseUrl: string
  /** What the API answers, newest first. A test may change it while the page is open. */
  tasks: TaskRecord[]
  /** Whether the API answers 503 from now on. */
  isDown: boolean
}

/** Builds the Web UI and serves it with an API that answers from memory, as the contract describes it. */
export async function startServiceForBrowser(tasks: readonly TaskRecord[]): Promise<ServiceForBrowser> {
  const pages = await buildPages()
  const streams = new Set<ServerResponse>()
  let [known, isDown] = [[...tasks], false]
  const server = createServer((request, response) => void answer(service, streams, pages, request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // listening on TCP, so not a pipe's path
  const service: ServiceForBrowser = {
    baseUrl: `http://127.0.0.1:${port}`,
    get tasks() {
      return known
    },
    set tasks(next) {
      known = next
      for (const stream of streams) for (const task of next) stream.write(anEvent(task))
    },
    get isDown() {
      return isDown
    },
    set isDown(next) {
      isDown = next
      if (isDown) for (const stream of streams) stream.destroy()
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(pages, { recursive: true })
    },
  }
  return service
}

/** In a process of its own: the test runner's NODE_ENV would build React's development version. */
async function buildPages(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'deployment-watcher-web-'))
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const build = [vite, 'build', '--config', 'web/vite.config.ts', '--outDir', folder, '--logLevel', 'warn']
  await promisify(execFile)(process.execPath, build, { cwd: root, env: { ...process.env, NODE_ENV: 'production' } })
  return folder
}

const anEvent = (task: TaskRecord) =>
  `id: 1\ndata: ${JSON.stringify({ id: 1, task_id: task.id, at: 1, kind: 'note', detail: '', task })}\n\n`

function openStream(streams: Set<ServerResponse>, response: ServerResponse) {
  response.writeHead(200, { ...securityHeaders, 'content-type': 'text/event-stream' }).write('id: 1\n\n')
  streams.add(response)
  response.on('close', () => streams.delete(response))
}

async function answer(
  service: ServiceForBrowser,
  streams: Set<ServerResponse>,
  pages: string,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const url = new URL(request.url ?? '/', service.baseUrl)
  if (url.pathname === '/api/v1/events' && !service.isDown) return openStream(streams, response)
  if (url.pathname.startsWith('/api/')) return answerApi(service, url, response)
  const path = extname(url.pathname) === '' ? '/index.html' : url.pathname
  const content = await readFile(join(pages, path)).catch(() => undefined)
  const type = contentTypes[extname(path)] ?? 'application/octet-stream'
  response.writeHead(content === undefined ? 404 : 200, { ...securityHeaders, 'content-type': type }).end(content)
}

const noLock: DeployLockDetails = {
  active: false,
  source: null,
  since: null,
  until: null,
  reason: null,
  set_by: null,
  next_window: null,
  override_until: null,
  schedule: { windows: [], time_zone: 'UTC' },
}

function answerApi(service: ServiceForBrowser, url: URL, response: ServerResponse) {
  if (service.isDown) return reply(response, 503, { error: 'the database did not answer within 5 s' })
  if (url.pathname === '/api/v1/tasks') return reply(response, 200, listOf(service.tasks, url.searchParams))
  const others: Readonly<Record<string, object>> = {
    '/api/v1/session': { enabled: false, user: null, privileged: false, privileged_groups: [], read_auth: false },
    '/api/v1/deploy-lock/details': noLock,
    '/api/v1/apps/summary': { as_of: 0, days: 30, apps: [] },
  }
  const other = url.pathname.endsWith('/events') ? { events: [] } : others[url.pathname]
  if (other !== undefined) return reply(response, 200, other)
  const id = decodeURIComponent(url.pathname.replace('/api/v1/tasks/', ''))
  const task = service.tasks.find((candidate) => candidate.id === id)
  return task === undefined ? reply(response, 404, { id, error: 'task not found' }) : reply(response, 200, task)
}

function listOf(tasks: readonly TaskRecord[], query: URLSearchParams): TaskList {
  const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))]
  const search = query.get('search') ?? ''
  const matching = tasks
    .filter((task) =>
      (['app', 'project', 'author', 'status'] as const).every((name) => agrees(query.get(name), task[name])),
    )
    .filter((task) => JSON.stringify(task).includes(search))
  return { tasks: matching.slice(offset, offset + limit), total: matching.length }
}

const agrees = (wanted: string | null, value: string) => wanted === null || wanted === value

function reply(response: ServerResponse, status: number, body: object) {
  response.writeHead(status, { ...securityHeaders, 'content-type': 'application/json' }).end(JSON.stringify(body))
}
