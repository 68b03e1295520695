import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { TaskEvent } from '../../contract/task-event.ts'
import { runGit } from '../../simulator/git-host/run-git.ts'
import type { World } from '../../test/support/world.ts'
import type { Operation } from './client-history.ts'
import { type LockChange, lockChanges, type TaskChange, taskChanges } from './observe-tasks.ts'
import { applications, type HistoryPlan } from './plan-history.ts'

/** What really ran of an application, and until when. */
export type TruthMoment = {
  readonly atMs: number
  readonly untilMs: number
  readonly running: readonly string[]
  /** The commits whose manifests were applied last. */
  readonly appliedRevisions: readonly string[]
  readonly isRolledOut: boolean
}

export type TaskRow = {
  readonly id: string
  readonly app: string
  readonly author: string
  readonly tag: string
  readonly may_write: boolean
  readonly status: string
  readonly cause: string | null
  readonly status_reason: string | null
  readonly timeout_seconds: number
  readonly created: Date
  readonly updated: Date
  readonly commit: string | null
  readonly write_state: string | null
}

export type Commit = {
  readonly sha: string
  readonly message: string
  readonly files: readonly string[]
  /** The override file of the application it changed, as it was then. */
  readonly text: string
  readonly taskId: string | undefined
}

/** Everything a history left behind, for the invariants to be checked on. */
export type Evidence = {
  readonly plan: HistoryPlan
  readonly operations: readonly Operation[]
  readonly tasks: readonly TaskRow[]
  readonly changes: readonly TaskChange[]
  readonly lockChanges: readonly LockChange[]
  /** For how long each replica held a transaction open in which it made a call. */
  readonly callsInTransactions: readonly { readonly replica: number; readonly ms: number }[]
  readonly events: readonly TaskEvent[]
  readonly streamed: readonly TaskEvent[]
  readonly truth: ReadonlyMap<string, readonly TruthMoment[]>
  /** Oldest first. */
  readonly commits: readonly Commit[]
  /** Old and new tip of every change of the branch, as the Git host noted them. */
  readonly tips: readonly { readonly from: string; readonly to: string }[]
  readonly gitComplaint: string
  readonly overrides: ReadonlyMap<string, string>
  readonly pages: readonly (readonly string[])[]
  readonly metrics: readonly { readonly accepted: number; readonly watched: number }[]
  readonly logs: string
  readonly secrets: readonly string[]
  readonly isCalm: boolean
  readonly healedMs: number
  readonly deaths: number
  readonly stops: readonly { readonly exitCode: number | null; readonly tookMs: number }[]
  readonly leftProcesses: readonly string[]
}

type Known = Pick<
  Evidence,
  'plan' | 'operations' | 'streamed' | 'truth' | 'isCalm' | 'healedMs' | 'deaths' | 'secrets' | 'callsInTransactions'
> & { readonly replicas: World; readonly cacheFolder: string }

/** Gathers the rest from database, repository and replicas, and stops the replicas. */
export async function gatherEvidence({ replicas, cacheFolder, ...known }: Known): Promise<Evidence> {
  const { running, repositoryFolder, rows } = replicas
  const tasks = await rows<TaskRow>(`
    SELECT t.id, app, author, images->0->>'tag' AS tag, may_write, status, t.cause, status_reason, timeout_seconds,
      t.created, t.updated, t.commit, w.state AS write_state
    FROM watcher.tasks t LEFT JOIN watcher.pending_writes w ON w.task_id = t.id ORDER BY t.created, t.id`)
  const events = await rows<TaskEvent>(`
    SELECT position::int AS id, task_id, extract(epoch FROM at)::float8 AS at, kind, detail
    FROM watcher.task_events WHERE position IS NOT NULL ORDER BY position`)
  const pages = await Promise.all(running.map(({ request }) => allPages(request)))
  const metrics = await Promise.all(running.map(({ request }) => countsOf(request)))
  const stops = await Promise.all(running.map(stopOne))
  const overrides = applications.map(async (app) => {
    const text = await replicas.simulator.git.readFile('gitops', `apps/${app}/.argocd-source-${app}.yaml`)
    return [app, text ?? ''] as const
  })
  return {
    ...known,
    tasks,
    events,
    pages,
    metrics,
    stops,
    changes: await taskChanges(replicas),
    lockChanges: await lockChanges(replicas),
    commits: await commitsIn(repositoryFolder),
    tips: await tipsIn(repositoryFolder),
    gitComplaint: await runGit(repositoryFolder, ['fsck', '--strict', '--no-dangling', '--no-progress']),
    overrides: new Map(await Promise.all(overrides)),
    logs: running.map(({ logs }) => logs()).join(''),
    leftProcesses: await processesNaming(cacheFolder),
  }
}

type Ask = World['running'][number]['request']

async function allPages(request: Ask): Promise<readonly string[]> {
  const ids: string[] = []
  for (;;) {
    const { status, body } = await request(`/api/v1/tasks?limit=7&offset=${ids.length}`)
    if (status === 503) continue // the machine is too busy for a moment
    const { tasks } = body as { tasks: { id: string }[] } // the contract's answer to the list
    if (tasks.length === 0) return ids
    ids.push(...tasks.map(({ id }) => id))
  }
}

async function countsOf(request: Ask) {
  const text = String((await request('/metrics')).body)
  const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
  return { accepted: value('accepted_deployments'), watched: value('in_progress_tasks') }
}

async function stopOne({ kill }: World['running'][number]) {
  const began = performance.now()
  return { exitCode: await kill('SIGTERM'), tookMs: performance.now() - began }
}

async function commitsIn(folder: string): Promise<readonly Commit[]> {
  const format = '--format=%x1e%H%x1f%B%x1f'
  const text = await runGit(folder, ['log', '--reverse', '--name-only', '-m', '--first-parent', format, 'main'])
  const entries = text.split('\x1e').filter((entry) => entry !== '')
  return Promise.all(
    entries.map(async (entry) => {
      const [sha = '', message = '', names = ''] = entry.split('\x1f')
      const files = names.split('\n').filter((name) => name !== '')
      const override = files.find((file) => file.includes('.argocd-source-'))
      const text = override === undefined ? '' : await runGit(folder, ['cat-file', 'blob', `${sha}:${override}`])
      return { sha, message, files, text, taskId: /^Watcher-Task: (\S+)$/m.exec(message)?.[1] }
    }),
  )
}

async function tipsIn(folder: string) {
  const text = await readFile(`${folder}/logs/refs/heads/main`, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ from: line.slice(0, 40), to: line.slice(41, 81) }))
}

/** What git or ssh of a stopped replica still runs; some of it needs a moment to end. */
async function processesNaming(folder: string): Promise<readonly string[]> {
  for (const limit = performance.now() + 5_000; ; await delay(100)) {
    const found = await commandLines()
    const left = found.filter((line) => line.includes(folder))
    if (left.length === 0 || performance.now() > limit) return left
  }
}

async function commandLines(): Promise<readonly string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.map((line) => line.replaceAll('\0', ' '))
}
