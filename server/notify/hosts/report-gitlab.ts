import { z } from 'zod'
import { type NotificationEvent, notificationHeadline } from '../../../contract/text/notification-text.ts'
import { type Fault, faultOf } from '../../git-hosts/api-fault.ts'
import { jsonOf, type Post } from '../../http/outgoing/post.ts'
import type { Attempt, Message } from '../kinds/attempt.ts'
import { cut, plain } from '../render/plain-text.ts'
import { attemptOfFault } from './attempt-of-fault.ts'
import type { ReportedCommit } from './whose-repository.ts'

export type GitLabSettings = {
  /** GITLAB_URL, without a slash at its end */
  readonly url: string
  /** GITLAB_TOKEN, as it is now */
  readonly token: () => string
}

type Dependencies = { readonly settings: GitLabSettings; readonly call: Post }
type Commit = ReportedCommit & { readonly hasCommitStatus: boolean }
/** Deployments of other tasks of ours. */
type ReadTaken = () => Promise<ReadonlySet<number>>

const states: Readonly<Record<NotificationEvent, 'running' | 'success' | 'failed' | 'canceled'>> = {
  started: 'running',
  succeeded: 'success',
  recovered: 'success',
  failed: 'failed',
  aborted: 'failed',
  cancelled: 'canceled',
}
const maxDescription = 140
const listed = 50
const maxListBytes = 1_048_576
/** By which their clock may be behind. */
const skewMs = 60_000

const Reference = z.object({ repository: z.string(), deployment: z.number().int() })
const Deployment = z.looseObject({ id: z.number().int(), status: z.string() })
const Deployments = z.array(
  Deployment.extend({ sha: z.string(), created_at: z.string().transform((text) => Date.parse(text)) }),
)
const Project = z.looseObject({ default_branch: z.string().nullable().optional() })

/** One deployment for a task, whose status follows it. https://docs.gitlab.com/api/deployments/ */
export async function reportToGitLab(
  { settings, call }: Dependencies,
  message: Message,
  commit: Commit,
  readTaken: ReadTaken,
): Promise<Attempt> {
  const { task, event, pageUrl, attempts } = message
  const { repository, sha, environment, isTag, hasCommitStatus } = commit
  const project = `/projects/${encodeURIComponent(repository)}`
  const state = states[event]
  const remembered = Reference.safeParse(message.reference).data
  const known = remembered?.repository === repository ? remembered.deployment : undefined

  const deployment = await update()
  if (typeof deployment !== 'number') return attemptOfFault(deployment, undefined)
  const reference = { repository, deployment }
  const fault = hasCommitStatus ? await setCommitStatus() : undefined
  return fault === undefined ? { kind: 'sent', reference } : attemptOfFault(fault, reference)

  async function update(): Promise<number | Fault> {
    const ours = known ?? (attempts > 1 ? await find() : undefined)
    if (typeof ours === 'object') return ours
    if (ours === undefined) return create()
    const fault = await setStatus(ours)
    // Without the deployment, a user has deleted it.
    return fault?.kind === 'blocked' ? create() : (fault ?? ours)
  }

  async function create(): Promise<number | Fault> {
    const ref = await findRef()
    if (typeof ref !== 'string') return ref
    const answer = await request('POST', `${project}/deployments`, { environment, sha, ref, tag: isTag, status: state })
    if ('fault' in answer) return answer.fault
    return Deployment.safeParse(answer.json).data?.id ?? unreadable
  }

  /** Of an attempt whose answer was lost: there is no field in which ours could be marked. */
  async function find(): Promise<number | Fault | undefined> {
    const query = new URLSearchParams({ environment, order_by: 'id', sort: 'desc', per_page: String(listed) })
    const answer = await request('GET', `${project}/deployments?${query}`)
    if ('fault' in answer) return answer.fault
    const found = Deployments.safeParse(answer.json).data
    if (found === undefined) return unreadable
    const taken = await readTaken()
    return found.find(
      (one) =>
        one.sha === sha &&
        ['running', state].includes(one.status) &&
        one.created_at >= task.created * 1_000 - skewMs &&
        !taken.has(one.id),
    )?.id
  }

  async function setStatus(id: number): Promise<Fault | undefined> {
    if (state === 'running') return undefined // as it was created
    const answer = await request('PUT', `${project}/deployments/${id}`, { status: state })
    if (!('fault' in answer) || answer.fault.kind !== 'final') return 'fault' in answer ? answer.fault : undefined
    // An attempt whose answer was lost may have set it, which cannot be done twice.
    const now = await request('GET', `${project}/deployments/${id}`)
    const isSet = 'json' in now && Deployment.safeParse(now.json).data?.status === state
    return isSet ? undefined : answer.fault
  }

  async function setCommitStatus(): Promise<Fault | undefined> {
    const answer = await request('POST', `${project}/statuses/${sha}`, {
      state,
      name: cut(plain(`${task.app} in ${environment}`), 255),
      description: cut(plain(notificationHeadline(event, task)), maxDescription),
      ...(commit.ref === undefined ? {} : { ref: commit.ref }),
      ...(pageUrl === '' ? {} : { target_url: pageUrl }),
    })
    if (!('fault' in answer)) return undefined
    const isRepeated = attempts > 1 && /cannot transition/i.test(answer.fault.error)
    return isRepeated ? undefined : answer.fault
  }

  async function findRef(): Promise<string | Fault> {
    if (commit.ref !== undefined) return commit.ref
    const answer = await request('GET', project)
    if ('fault' in answer) return answer.fault
    const branch = Project.safeParse(answer.json).data?.default_branch
    return branch ?? { kind: 'final', error: `source names no ref, and ${repository} has no default branch` }
  }

  async function request(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: object,
  ): Promise<{ readonly json: unknown } | { readonly fault: Fault }> {
    const answer = await call(`${settings.url}/api/v4${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'private-token': settings.token() },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      allowsPrivate: true,
      maxAnswerBytes: maxListBytes,
    })
    const lacking = `GITLAB_TOKEN may not report deployments of ${repository}, or there is no such project`
    const fault = faultOf(answer, 'GitLab', lacking)
    if (fault === undefined) return { json: 'text' in answer ? jsonOf(answer.text) : undefined }
    return {
      fault: fault.kind === 'unauthorized' ? { kind: 'blocked', error: 'GitLab does not know GITLAB_TOKEN' } : fault,
    }
  }
}

const unreadable: Fault = { kind: 'passing', error: 'GitLab answered something else than its API describes' }
