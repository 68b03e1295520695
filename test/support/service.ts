import { randomUUID } from 'node:crypto'
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  type TaskRecord,
  type TaskSubmission,
  TaskAcceptance as taskAcceptance,
  TaskRecord as taskSchema,
} from '../../contract/task.ts'
import { isFinal } from '../../contract/task-status.ts'
import { spawnGuarded, stopChild } from '../../launcher/guarded-child.mjs'
import { compileCache, nodeEnvironment, nodeFlags } from '../../server/node-flags.mjs'
import { claimPort } from './claim-port.ts'
import { createTestDatabase, serviceUrlOf } from './database.ts'

const ownCheckout = fileURLToPath(new URL('../..', import.meta.url))
/** As installed for what measures; `npm test` sets the variable (vitest.config.ts). */
const flags = process.env.SERVICE_MAY_USE_MEMORY ? [] : nodeFlags
const startLimitMs = 60_000
/** Ends what hangs; how long something may take, a test says itself. */
const waitLimitMs = 90_000
const stopLimitMs = 40_000
const maxWaitSeconds = 60

export type ServiceOptions = {
  /** As in docs/settings.md. Where the delivery controller matters: ARGO_URL and ARGO_TOKEN; else nobody answers there. */
  readonly settings?: Readonly<Record<string, string>>
  /** Of another service, to run two replicas on one database; else a clone of its own. The service has the least rights in it. */
  readonly databaseUrl?: string
  /** Where the service lies that is run; else here. */
  readonly checkout?: string
  /** A command that starts the service, such as one that runs it as another user. */
  readonly through?: readonly string[]
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown }
export type Service = Awaited<ReturnType<typeof startService>>

/** A submission in which only the given fields matter. */
export const aTask = (fields: Partial<TaskSubmission> = {}): TaskSubmission => ({
  app: 'shop',
  author: 'ada',
  project: 'shop',
  images: [{ image: 'registry.example/shop', tag: 'v1.2.3' }],
  ...fields,
})

/** Settings for those who do more than any client, or than all clients together. */
export const withoutLimits = {
  SUBMISSIONS_PER_MINUTE: '0',
  STREAMS_PER_CLIENT: '5000',
  WAITS_PER_CLIENT: '2000',
  MAX_CONNECTIONS: '100000',
  MAX_UNFINISHED_TASKS: '1000000',
  MAX_UNFINISHED_PER_APP: '1000000',
}

/** Starts the real service as a process of its own, and waits until it is ready. */
export async function startService({
  settings = {},
  databaseUrl,
  checkout = ownCheckout,
  through = [],
}: ServiceOptions = {}) {
  await using started = new AsyncDisposableStack()
  const ownerUrl = databaseUrl ?? started.use(await createTestDatabase()).url
  const dataDirectory = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-service-'))
  started.defer(() => rm(dataDirectory, { recursive: true, force: true }))
  const port = await claimPort()
  const url = `http://127.0.0.1:${port}`
  const environment = {
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: dataDirectory,
    DATABASE_URL: serviceUrlOf(ownerUrl),
    ARGO_URL: 'http://127.0.0.1:1',
    ...('ARGO_TOKEN_FILE' in settings ? {} : { ARGO_TOKEN: 'token-of-the-test' }),
    OVERRIDE_FILE_PREFIX: 'argocd',
    DRAIN_DELAY: '0',
    DB_CONNECT_TIMEOUT: '10s', // PostgreSQL starts a process for each connection, which takes a busy machine seconds
    ...settings,
  }
  const reading =
    'IDP_REQUIRE_READ_AUTH' in settings ? { 'Watcher-Deploy-Token': settings.WATCHER_DEPLOY_TOKEN ?? '' } : undefined
  const logFile = path.join(dataDirectory, 'output.log')
  const run = () => spawnService(path.join(checkout, 'server', 'main.ts'), environment, logFile, through)
  const output = () => readFileSync(logFile, 'utf8')
  let child = run()
  started.defer(() => {
    child.kill('SIGCONT') // a frozen process would not hear the next signal
    return stopChild(child, 'SIGTERM', stopLimitMs)
  })
  await untilReady(url, child, output)
  const resources = started.move()

  const service = {
    url,
    databaseUrl: ownerUrl,
    /** Everything the service has printed so far, over all its starts. */
    logs: output,
    request: (pathname: string, init: RequestInit = {}) => request(`${url}${pathname}`, init),
    submitTask: (task: unknown = aTask(), headers: Record<string, string> = {}) =>
      request(`${url}/api/v1/tasks`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(task),
      }),
    /** Submits until the task is accepted: on a busy machine the database may not answer in time, and a client asks again. */
    async acceptTask(task: TaskSubmission, headers: Record<string, string> = {}): Promise<string> {
      const key = { 'Idempotency-Key': randomUUID() }
      for (const deadline = performance.now() + waitLimitMs; ; ) {
        const answer = await service.submitTask(task, { ...key, ...headers })
        if (answer.status === 202) return taskAcceptance.parse(answer.body).id
        if (answer.status !== 503 || performance.now() > deadline)
          throw new Error(`the task was not accepted: ${showAnswer(answer)}`)
      }
    },
    async getTask(id: string): Promise<TaskRecord> {
      const answer = await request(`${url}/api/v1/tasks/${id}`, { headers: { ...reading } })
      if (answer.status !== 200) throw new Error(`task ${id} was not read: ${showAnswer(answer)}`)
      return taskSchema.parse(answer.body)
    },
    /** @throws if the fact is not seen within the limit, showing the task as it was last */
    async waitForTask(
      id: string,
      isReached: (task: TaskRecord) => boolean,
      limitMs = waitLimitMs,
    ): Promise<TaskRecord> {
      for (const deadline = performance.now() + limitMs; ; await delay(100)) {
        const answer = await request(`${url}/api/v1/tasks/${id}`, { headers: { ...reading } })
        const task = taskOf(answer)
        if (task && isReached(task)) return task
        if (performance.now() > deadline) throw new Error(`not reached within ${limitMs} ms: ${showAnswer(answer)}`)
      }
    },
    async waitForEnd(id: string, limitMs = waitLimitMs): Promise<TaskRecord> {
      for (const deadline = performance.now() + limitMs; ; await delay(100)) {
        const leftSeconds = Math.ceil((deadline - performance.now()) / 1_000)
        const wait = Math.max(1, Math.min(leftSeconds, maxWaitSeconds))
        const answer = await request(`${url}/api/v1/tasks/${id}?wait=${wait}`, { headers: { ...reading } })
        const task = taskOf(answer)
        if (task && isFinal(task.status)) return task
        if (performance.now() > deadline) throw new Error(`no end within ${limitMs} ms: ${showAnswer(answer)}`)
      }
    },
    pid: () => child.pid,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    /** @returns the exit code, or null if the signal ended it */
    async kill(signal: NodeJS.Signals): Promise<number | null> {
      if (signal === 'SIGTERM' || signal === 'SIGINT') await stopChild(child, signal, stopLimitMs)
      else await ended(child, signal)
      return child.exitCode
    },
    async restart(): Promise<void> {
      await stopChild(child, 'SIGTERM', stopLimitMs)
      child = run()
      await untilReady(url, child, output)
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
  return service
}

type Child = ReturnType<typeof spawnGuarded>

function spawnService(
  main: string,
  settings: Readonly<Record<string, string>>,
  logFile: string,
  through: readonly string[],
): Child {
  const { PATH, HOME } = process.env // nothing else of the developer's
  const env = { PATH, HOME, NODE_COMPILE_CACHE: compileCache, ...nodeEnvironment, ...settings }
  if (process.env.SERVICE_STARTS) appendFileSync(process.env.SERVICE_STARTS, `${process.env.VITEST_POOL_ID}\n`)
  const log = openSync(logFile, 'a')
  const [command = process.execPath, ...args] = [...through, process.execPath, ...flags, main]
  const plan = {
    command,
    args,
    env,
    stopSignal: 'TERM',
    stdout: log,
    stderr: log,
  } as const
  const child = spawnGuarded(plan)
  closeSync(log)
  return child
}

async function untilReady(url: string, child: Child, logs: () => string): Promise<void> {
  for (const deadline = performance.now() + startLimitMs; ; await delay(50)) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.ok) return
    const isGone = child.exitCode !== null || child.signalCode !== null
    if (isGone || performance.now() > deadline) throw new Error(`the service did not get ready:\n${logs()}`)
  }
}

/** A stopped process hears nothing but SIGKILL and SIGCONT, so only the signals that end one are waited for. */
async function ended(child: Child, signal: NodeJS.Signals): Promise<void> {
  if (signal !== 'SIGKILL') return void child.kill(signal)
  const over = new Promise((resolve) => child.once('exit', resolve))
  if (child.kill(signal)) await over
}

/** Undefined where the database did not answer in time: on a busy machine it may, and who waits asks again. */
function taskOf(answer: Answer): TaskRecord | undefined {
  if (answer.status === 503) return undefined
  if (answer.status !== 200) throw new Error(`the task was not read: ${showAnswer(answer)}`)
  return taskSchema.parse(answer.body)
}

const showAnswer = ({ status, body }: Answer) => `${status} ${JSON.stringify(body)}`

async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, init)
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.includes('json') === true && text !== ''
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
}
