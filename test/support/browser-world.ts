import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { TaskRecord, type TaskSubmission } from '../../contract/task.ts'
import { isFinal } from '../../contract/task-status.ts'
import { launchBrowser, type OpenOptions, openPage } from './browser.ts'
import { createTestDatabase } from './database.ts'
import { createHttpBrowser, type HttpBrowser } from './http-browser.ts'
import { reserveIdentityProvider } from './identity-provider.ts'
import { type ReplicasOptions, startReplicas } from './replicas.ts'
import { aTask } from './service.ts'
import { withToken } from './world.ts'

export type BrowserWorldOptions = Partial<ReplicasOptions> & {
  readonly hasProvider?: boolean
  readonly isReadingClosed?: boolean
}

type Opening = OpenOptions & {
  /** Who has signed in. */
  readonly as?: HttpBrowser | undefined
  /** Of another replica, or of a line to one; else of the first. */
  readonly url?: string
}

export type BrowserWorld = Awaited<ReturnType<typeof startBrowserWorld>>

/** Who may act where there is an identity provider. */
const privilegedGroup = 'platform'
const waitLimitMs = 90_000

/** The real service with its surroundings, and a Chromium that opens its pages. */
export async function startBrowserWorld(options: BrowserWorldOptions = {}) {
  const { hasProvider = false, isReadingClosed = false, settings, times, ...others } = options
  await using started = new AsyncDisposableStack()
  const databaseUrl = options.databaseUrl ?? started.use(await createTestDatabase()).url
  const idp = hasProvider ? started.use(await reserveIdentityProvider()) : undefined
  const replicas = started.use(
    await startReplicas({
      databaseUrl,
      count: 1,
      mayReadLogs: true,
      ...others,
      times: { progressDeadline: 7_200_000, ...times }, // what is held is looked at to the end, on a slow machine too
      settings: {
        ...(idp ? { ...idp.settings, IDP_PRIVILEGED_GROUPS: privilegedGroup } : {}),
        ...(isReadingClosed ? { IDP_REQUIRE_READ_AUTH: 'true' } : {}),
        POD_LOG_LINES: '20',
        BAD_POD_GRACE: '1',
        GIT_WEB_URLS: '127.0.0.1=https://git.example/{path}/commit/{sha}',
        ...settings,
      },
    }),
  )
  const service = firstOf(replicas.running)
  const { url } = service
  await idp?.start(...replicas.running.map((replica) => replica.url))
  const browser = started.use(await launchBrowser())

  /** A user who has signed in. */
  async function signIn(user: string, groups: readonly string[] = [privilegedGroup]): Promise<HttpBrowser> {
    idp?.users.set(user, { preferred_username: user, groups })
    const signedIn = createHttpBrowser()
    await signedIn.signIn(url, user)
    return signedIn
  }

  /** @returns the id */
  async function submit(app: string, tag: string, fields: Partial<TaskSubmission> = {}): Promise<string> {
    const task = aTask({ app, images: [{ image: `registry.example/${app}`, tag }], ...fields })
    const { status, body } = await service.submitTask(task, { ...withToken, 'Idempotency-Key': randomUUID() })
    if (status !== 202) throw new Error(`not accepted: ${status} ${JSON.stringify(body)}`)
    return (body as { id: string }).id // checked by the status
  }

  async function waitForTask(id: string, isReached: (task: TaskRecord) => boolean): Promise<TaskRecord> {
    for (const deadline = performance.now() + waitLimitMs; ; await delay(50)) {
      const { status, body } = await service.request(`/api/v1/tasks/${id}`, { headers: withToken })
      const task = status === 200 ? TaskRecord.parse(body) : undefined
      if (task && isReached(task)) return task
      if (performance.now() > deadline) throw new Error(`not reached: ${status} ${JSON.stringify(body)}`)
    }
  }
  const ada = idp && (await signIn('ada'))
  const stack = started.move()
  return {
    ...replicas,
    service,
    browser,
    idp,
    /** May act; undefined without a provider. */
    ada,
    signIn,
    open: (path: string, { as, url: address = url, ...opening }: Opening = {}) =>
      openPage(browser, address, path, { ...opening, cookies: as?.cookies(url) }),
    submit,
    waitForTask,
    waitForEnd: (id: string) => waitForTask(id, ({ status }) => isFinal(status)),
    /** New Pods of these tags behave so; none: all run again. */
    hold: (app: string, newPods: 'never-ready' | 'crashes', ...well: readonly string[]) =>
      replicas.simulator.control.overridePods(app, {
        newPods,
        except: well.map((tag) => `registry.example/${app}:${tag}`),
      }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function firstOf<One>([first]: readonly One[]): One {
  if (first === undefined) throw new Error('no replica was started')
  return first
}
