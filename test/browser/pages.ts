import { setTimeout as delay } from 'node:timers/promises'
import type { Locator, Page } from 'playwright-core'
import { causes } from '../../contract/causes.ts'
import type { ExampleTasks } from '../support/example-tasks.ts'
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts'
import { startService } from '../support/service.ts'
import type { World } from '../support/world.ts'
import { type Kind, withProvider } from './combinations.ts'

export type KnownTasks = ExampleTasks & { readonly long: string }

/** A page, or a state of one, that everyone must be able to read. Another page is another row. */
export type PageState = {
  readonly name: string
  readonly path: string | ((tasks: KnownTasks) => string)
  /** What must be there before one looks. */
  readonly shows: (page: Page) => Locator
  /** What services have it; else all. */
  readonly kinds?: readonly Kind[]
  /** Else it is seen by a user who may act, where there is a provider. */
  readonly isSignedOut?: boolean
  /** Brings the service into the state, until disposed of. */
  readonly arrange?: (world: World) => Promise<Arranged>
  /** Brings the open page into the state. */
  readonly act?: (page: Page, arranged: Arranged | undefined) => Promise<void>
  /** What the console says of it. */
  readonly complaint?: RegExp
  /** What its pictures in docs/images are called. */
  readonly picture?: { readonly name: string }
}

type Arranged = AsyncDisposable & {
  /** Of another service, or of the line to the service. */
  readonly url?: string
  readonly line?: FaultProxy
}

const heading = (name: string | RegExp) => (page: Page) => page.getByRole('heading', { name })
const text = (words: string | RegExp) => (page: Page) => page.getByText(words).first()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

export const pageStates: readonly PageState[] = [
  {
    name: 'the list',
    path: '/tasks',
    shows: (page) => page.getByRole('row').nth(3),
    picture: { name: 'tasks' },
  },
  { name: 'the list without a match', path: '/tasks?app=none', shows: heading('No deployment of none') },
  {
    name: 'a list asked for what it has not',
    path: '/tasks?status=brokn&from_timestamp=today&cursor=x&offset=-1',
    shows: text('status=brokn'),
  },
  {
    name: 'the list before the first deployment',
    path: '/tasks',
    kinds: ['without a provider'],
    arrange: () => startService(),
    shows: heading('No deployment yet'),
  },
  {
    name: 'the list signed out',
    path: '/tasks',
    kinds: ['closed reading'],
    isSignedOut: true,
    shows: needsSignIn,
  },
  {
    name: 'a task in progress',
    path: (tasks) => `/task/${tasks.waiting}`,
    shows: (page) => page.getByRole('timer', { name: 'Elapsed' }),
    picture: { name: 'task-in-progress' },
  },
  {
    name: 'a failed task',
    path: (tasks) => `/task/${tasks.failed}`,
    shows: heading(/crashes on start/),
    picture: { name: 'task-failed' },
  },
  {
    name: 'a failed task signed out',
    path: (tasks) => `/task/${tasks.failed}`,
    kinds: ['open reading'],
    isSignedOut: true,
    shows: text('Sign in to change deployments.'),
  },
  {
    name: 'a command in place of an action',
    path: (tasks) => `/task/${tasks.failed}`,
    kinds: ['without a provider'],
    act: (page) => page.getByText('Roll back to v1 from a terminal').click(),
    shows: text('"tag":"v1"'),
  },
  {
    name: 'a deployed task',
    path: (tasks) => `/task/${tasks.deployed}`,
    shows: heading(/^Deployed in/),
  },
  { name: 'a cancelled task', path: (tasks) => `/task/${tasks.cancelled}`, shows: heading(causes.superseded.headline) },
  { name: 'an aborted task', path: (tasks) => `/task/${tasks.aborted}`, shows: text('Outcome unknown') },
  { name: 'a task of an unknown name', path: (tasks) => `/task/${tasks.missing}`, shows: text('with a similar name') },
  { name: 'a task of names without a break', path: (tasks) => `/task/${tasks.long}`, shows: heading(/^x{255}$/) },
  {
    name: 'a list of names without a break',
    path: `/tasks?search=${'x'.repeat(255)}`,
    shows: (page) => page.getByRole('row').nth(1),
  },
  {
    name: 'a task that is not there',
    path: '/task/none',
    shows: heading('Deployment none not found'),
    complaint: /404/,
  },
  {
    name: 'a task signed out',
    path: '/task/none',
    kinds: ['closed reading'],
    isSignedOut: true,
    shows: needsSignIn,
  },
  {
    name: 'a question before an action',
    path: (tasks) => `/task/${tasks.failed}`,
    kinds: withProvider,
    act: (page) => button(page, 'Roll back to v1').click(),
    shows: (page) => page.getByRole('dialog', { name: 'Roll back to v1?' }),
  },
  { name: 'an address without a page', path: '/nowhere', shows: heading('Page not found') },
  { name: 'the lock', path: '/lock', shows: (page) => button(page, 'Lock deployments') },
  {
    name: 'the lock signed out',
    path: '/lock',
    kinds: ['open reading'],
    isSignedOut: true,
    shows: text('Sign in to lock.'),
  },
  {
    name: 'the lock where reading needs a sign-in',
    path: '/lock',
    kinds: ['closed reading'],
    isSignedOut: true,
    shows: needsSignIn,
  },
  { name: 'the lock in a zone that is none', path: '/lock?tz=Mars/Olympus', shows: text('tz=Mars/Olympus') },
  {
    name: 'the lock while locked',
    path: '/lock',
    kinds: withProvider,
    arrange: lock,
    shows: (page) => button(page, 'Release the lock'),
    picture: { name: 'lock' },
  },
  {
    name: 'the list while locked',
    path: '/tasks',
    kinds: withProvider,
    arrange: lock,
    shows: text(/^Deployments are locked/),
  },
  {
    name: 'the overview',
    path: '/',
    shows: (page) => page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem').first(),
    picture: { name: 'overview' },
  },
  { name: 'the overview signed out', path: '/', kinds: ['closed reading'], isSignedOut: true, shows: needsSignIn },
  {
    name: 'Find signed out',
    path: '/tasks',
    kinds: ['closed reading'],
    isSignedOut: true,
    act: async (page) => {
      await needsSignIn(page).waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('lock')
    },
    shows: (page) => page.getByRole('option', { name: /^Lock deployments/ }),
  },
  {
    name: 'the settings signed out',
    path: '/settings',
    kinds: ['closed reading'],
    isSignedOut: true,
    shows: text('Sign in to see the settings.'),
  },
  { name: 'the history', path: '/history', shows: text(/deployments? in 30 days\./), picture: { name: 'history' } },
  {
    name: 'the history signed out',
    path: '/history',
    kinds: ['closed reading'],
    isSignedOut: true,
    shows: needsSignIn,
  },
  {
    name: 'the versions',
    path: '/versions',
    shows: (page) => page.getByRole('row').nth(4),
    picture: { name: 'versions' },
  },
  { name: 'the versions without a match', path: '/versions?search=none', shows: heading('No version matches') },
  {
    name: 'versions asked for what they have not',
    path: '/versions?drift=maybe',
    shows: text('drift=maybe'),
  },
  {
    name: 'the versions signed out',
    path: '/versions',
    kinds: ['closed reading'],
    isSignedOut: true,
    shows: needsSignIn,
  },
  {
    name: 'the versions while Argo CD is unavailable',
    path: '/versions',
    arrange: async ({ service }) => {
      cut(service.lines.controller)
      return { [Symbol.asyncDispose]: async () => restore(service.lines.controller) }
    },
    shows: text(/This is the last state/),
  },
  {
    name: 'the settings without a provider',
    path: '/settings',
    kinds: ['without a provider'],
    shows: text(/^This needs sign-in\./),
  },
  {
    name: 'the settings',
    path: '/settings',
    kinds: withProvider,
    shows: (page) => page.getByRole('region', { name: 'Version and health' }).getByText(/^PostgreSQL \d+/),
    picture: { name: 'settings' },
  },
  {
    name: 'the keys',
    path: '/tasks',
    act: (page) =>
      page
        .getByRole('row')
        .nth(1)
        .waitFor()
        .then(() => page.keyboard.press('?')),
    shows: (page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' }),
  },
  {
    name: 'the account',
    path: '/tasks',
    kinds: withProvider,
    act: (page) => page.getByRole('button', { name: 'ada, account' }).click(),
    shows: (page) => page.getByRole('dialog', { name: 'Account' }),
  },
  {
    name: 'a sign-in that failed',
    path: '/sign-in-error?reason=provider&back=%2Flock',
    kinds: withProvider,
    shows: (page) => page.getByRole('heading', { level: 1, name: 'The identity provider is unavailable' }),
    picture: { name: 'sign-in-error' },
  },
  {
    name: 'a page that is not live',
    path: '/tasks',
    arrange: async ({ service }) => {
      const line = await startFaultProxy({ port: Number(new URL(service.url).port) })
      return { url: `http://127.0.0.1:${line.port}`, line, [Symbol.asyncDispose]: () => line[Symbol.asyncDispose]() }
    },
    act: async (page, arranged) => {
      await page.getByText('Live', { exact: true }).waitFor()
      if (arranged?.line) cut(arranged.line)
    },
    shows: text(/^Not live since/),
    complaint: /net::ERR_/,
  },
  {
    name: 'a task while Argo CD is unavailable',
    path: (tasks) => `/task/${tasks.waiting}`,
    arrange: async ({ service }) => {
      cut(service.lines.controller)
      return { [Symbol.asyncDispose]: async () => restore(service.lines.controller) }
    },
    shows: text(/^Argo CD has not answered since/),
  },
  {
    name: 'a list that could not be read',
    path: '/tasks',
    kinds: ['without a provider'],
    arrange: async ({ service }) => {
      cut(service.lines.database)
      return { [Symbol.asyncDispose]: async () => restore(service.lines.database) }
    },
    shows: heading('The deployments could not be read'),
    complaint: /^503/,
  },
  {
    name: 'versions that could not be read',
    path: '/versions',
    kinds: ['without a provider'],
    arrange: async ({ service }) => {
      cut(service.lines.database)
      // For five seconds the last answer is given.
      while ((await service.request('/api/v1/versions')).status !== 503) await delay(200)
      return { [Symbol.asyncDispose]: async () => restore(service.lines.database) }
    },
    shows: heading('The versions could not be read'),
    complaint: /^503/,
  },
]

function needsSignIn(page: Page): Locator {
  return page.getByRole('heading', { name: 'Sign in to read this' })
}

async function lock({ ada, service }: World): Promise<AsyncDisposable> {
  const path = '/api/v1/deploy-lock'
  await ada?.change(service.url, path, 'POST', { reason: 'Moving the database, OPS-2214' })
  return { [Symbol.asyncDispose]: async () => void (await ada?.change(service.url, path, 'DELETE')) }
}

function cut(line: FaultProxy): void {
  line.mood = 'refuse'
  line.cut()
}

function restore(line: FaultProxy): void {
  line.mood = 'well'
}
