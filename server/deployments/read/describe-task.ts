import type { TaskRecord } from '../../../contract/task.ts'
import type { Task } from '../task.ts'
import { findSimilarApps } from './find-similar-apps.ts'
import type { TaskContext } from './task-context.ts'
import type { TaskReader } from './task-reader.ts'
import { taskRecordOf } from './task-record.ts'

type Dependencies = {
  readonly tasks: Pick<TaskReader, 'podLog' | 'context' | 'appsOfLength'>
  /** Where people look at a commit; undefined where no one said. */
  readonly commitUrl: (repository: string, commit: string) => string | undefined
  /** Where people look at what came between two commits; undefined likewise. */
  readonly compareUrl: (repository: string, from: string, to: string) => string | undefined
  /** Names of the applications that Argo CD has, as far as this replica knows. */
  readonly listedApps: () => readonly string[]
}

/** What the caller may be shown. */
export type TaskAudience = {
  /** Tasks of an application. */
  readonly canSeeTasksOf: (app: string) => boolean
  /** With a good credential: what Pods of an application wrote, and that there is one without a task. */
  readonly canSeeMoreOf: (app: string) => Promise<boolean>
}

const maxSimilarApps = 3
/** Of those that are similar, so many are judged by what the caller may see. */
const maxJudged = 50

/** Gives the answer about one task: its record with what a list has no room for. */
export const createDescribeTask =
  ({ tasks, commitUrl, compareUrl, listedApps }: Dependencies) =>
  async (task: Task, audience: TaskAudience): Promise<TaskRecord> => {
    const [log, { file, rolledBackBy, previousSource, ...others }, similar] = await Promise.all([
      task.status === 'failed' ? tasks.podLog(task.id) : undefined,
      tasks.context(task),
      task.status === 'app not found' ? similarApps(task.app, audience) : [],
    ])
    const url =
      task.commit === undefined || task.repository === undefined ? undefined : commitUrl(task.repository, task.commit)
    const isLogShown = log !== undefined && (await audience.canSeeMoreOf(task.app))
    return {
      ...taskRecordOf(task),
      ...linksOfSource(task.source, audience.canSeeTasksOf(task.app) ? previousSource : undefined),
      ...(audience.canSeeTasksOf(task.app) ? otherTasks(others) : {}),
      ...(file === undefined ? {} : { file }),
      ...(rolledBackBy === undefined ? {} : { rolled_back_by: rolledBackBy }),
      ...(url === undefined ? {} : { commit_url: url }),
      ...(similar.length === 0 ? {} : { similar_apps: similar }),
      ...(isLogShown ? { pod_log: log } : {}),
    }

    /** The commit of the application's own repository, and what changed since the deployment before. */
    function linksOfSource(source: Task['source'], before: Task['source']): Partial<TaskRecord> {
      if (source === undefined) return {}
      const { repository, sha } = source
      const url = source.url ?? commitUrl(repository, sha)
      const isComparable = before?.repository === repository && before.sha !== sha
      const compared = isComparable ? compareUrl(repository, before.sha, sha) : undefined
      return {
        source: { ...source, ...(url === undefined ? {} : { url }) },
        ...(compared === undefined ? {} : { compare_url: compared }),
      }
    }

    async function similarApps(wanted: string, { canSeeTasksOf, canSeeMoreOf }: TaskAudience): Promise<string[]> {
      const withTask = new Set(await tasks.appsOfLength(wanted.length))
      const shown: string[] = []
      for (const name of findSimilarApps(wanted, [...withTask, ...listedApps()]).slice(0, maxJudged)) {
        if (shown.length === maxSimilarApps) break
        if (withTask.has(name) ? canSeeTasksOf(name) : await canSeeMoreOf(name)) shown.push(name)
      }
      return shown
    }
  }

const otherTasks = ({
  previous,
  deployedSince,
  newestSince,
}: Omit<TaskContext, 'file' | 'rolledBackBy' | 'previousSource'>) => ({
  ...(previous === undefined ? {} : { previous }),
  ...(deployedSince === undefined ? {} : { deployed_since: deployedSince }),
  ...(newestSince === undefined ? {} : { newest_since: newestSince }),
})

export type DescribeTask = ReturnType<typeof createDescribeTask>
