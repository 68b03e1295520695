import { gitHubPagesOf } from '../../git-hosts/github-addresses.ts'
import type { GitHubApp } from '../../git-hosts/github-app.ts'
import type { Post } from '../../http/outgoing/post.ts'
import type { Attempt, LockMessage, Message } from '../kinds/attempt.ts'
import type { HostTarget } from '../targets/target.ts'
import { reportToGitHub } from './report-github.ts'
import { type GitLabSettings, reportToGitLab } from './report-gitlab.ts'
import { type Reported, whoseCommit } from './whose-repository.ts'

type Dependencies = {
  /** Undefined: not configured. */
  readonly app: GitHubApp | undefined
  readonly gitLab: GitLabSettings | undefined
  readonly call: Post
  /** What a task's own record does not show; undefined: it was deleted. */
  readonly readFacts: (
    taskId: string,
  ) => Promise<{ readonly submitter: Reported['submitter']; readonly externalUrl: string | undefined } | undefined>
  /** Deployments that a target has for other tasks. */
  readonly readTaken: (target: string, taskId: string) => Promise<ReadonlySet<number>>
  readonly wallMs: () => number
}

export type ReportCommit = ReturnType<typeof createReportCommit>

/** Reports a deployment on the commit of the application's own repository, where its submitter may speak for it. */
export const createReportCommit =
  ({ app, gitLab, call, readFacts, readTaken, wallMs }: Dependencies) =>
  async (name: string, target: HostTarget, message: Message | LockMessage): Promise<Attempt> => {
    if (message.event === 'lock_changed') return nothing('the deploy lock is of no commit')
    const { task } = message
    const { submitter, externalUrl } = (await readFacts(task.id)) ?? { submitter: undefined, externalUrl: undefined }
    const reported = { source: task.source, environment: task.environment, submitter }
    if (target.kind === 'github') {
      if (app === undefined) return notConfigured('GITHUB_APP_ID')
      const commit = whoseCommit(reported, { server: gitHubPagesOf(app.apiUrl), hasSubgroups: false, ...target })
      if (typeof commit === 'string') return nothing(commit)
      return reportToGitHub({ app, call, wallMs }, message, { ...commit, externalUrl })
    }
    if (gitLab === undefined) return notConfigured('GITLAB_TOKEN')
    const commit = whoseCommit(reported, { server: gitLab.url, hasSubgroups: true, ...target })
    if (typeof commit === 'string') return nothing(commit)
    const reports = { ...commit, hasCommitStatus: target.commit_status }
    return reportToGitLab({ settings: gitLab, call }, message, reports, () => readTaken(name, task.id))
  }

const nothing = (why: string): Attempt => ({ kind: 'skipped', why: `nothing was sent: ${why}` })

const notConfigured = (setting: string): Attempt => ({ kind: 'retry', error: `${setting} is not set`, isBlocked: true })
