import type { TaskRecord } from '../../../contract/task.ts'
import { type FinalStatus, isFinal } from '../../../contract/task-status.ts'
import type { Post } from '../../http/outgoing/post.ts'
import { type Attempt, attemptOf, type LockMessage, type Message } from './attempt.ts'

type Destination = {
  readonly url: string
  readonly token: string
  /** Environments of deployments, with what DevLake calls them. */
  readonly environments: Readonly<Record<string, string>>
  readonly allowsPrivate: boolean
}

const results: Readonly<Record<FinalStatus, 'SUCCESS' | 'FAILURE' | 'ABORT'>> = {
  deployed: 'SUCCESS',
  failed: 'FAILURE',
  'app not found': 'FAILURE',
  aborted: 'ABORT',
  cancelled: 'ABORT',
}

/** Sends the end of a deployment as https://devlake.apache.org/docs/Plugins/webhook has it, if it names commit and environment. */
export async function sendDevlake(
  post: Post,
  { url, token, environments, allowsPrivate }: Destination,
  message: Message | LockMessage,
): Promise<Attempt> {
  const deployment = message.event === 'lock_changed' ? undefined : deploymentOf(message.task, environments)
  if (deployment === undefined) return { kind: 'skipped' }
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  return attemptOf(await post(url, { headers, body: JSON.stringify(deployment), allowsPrivate }))
}

function deploymentOf(task: TaskRecord, environments: Destination['environments']) {
  const { id, app, status, source, created, updated, environment: own = '' } = task
  const environment = Object.hasOwn(environments, own) ? environments[own] : undefined
  if (!isFinal(status) || source === undefined || environment === undefined) return undefined
  const [startedDate, finishedDate] = [created, updated].map((seconds) => new Date(seconds * 1_000).toISOString())
  const dates = { createdDate: startedDate, startedDate, finishedDate }
  const { repository: repoUrl, sha: commitSha, ref: refName } = source
  return {
    id,
    displayTitle: `Deployment of ${app}`,
    ...dates,
    result: results[status],
    environment,
    deploymentCommits: [{ repoUrl, commitSha, ...(refName !== undefined && { refName }), ...dates }],
  }
}
