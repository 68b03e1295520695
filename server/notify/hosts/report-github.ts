import { z } from 'zod'
import { type NotificationEvent, notificationHeadline } from '../../../contract/text/notification-text.ts'
import { type Fault, faultOf } from '../../git-hosts/api-fault.ts'
import { type GitHubApp, gitHubHeaders } from '../../git-hosts/github-app.ts'
import { jsonOf, type Post } from '../../http/outgoing/post.ts'
import type { Attempt, Message } from '../kinds/attempt.ts'
import { cut, plain } from '../render/plain-text.ts'
import { attemptOfFault } from './attempt-of-fault.ts'
import type { ReportedCommit } from './whose-repository.ts'

type Dependencies = { readonly app: GitHubApp; readonly call: Post; readonly wallMs: () => number }
type Commit = ReportedCommit & { readonly externalUrl: string | undefined }

const states: Readonly<Record<NotificationEvent, string>> = {
  started: 'in_progress',
  succeeded: 'success',
  recovered: 'success',
  failed: 'failure',
  aborted: 'error',
  cancelled: 'inactive',
}
const maxDescription = 140
const pageSize = 30
const maxPages = 10
const maxListBytes = 1_048_576
/** By which their clock may be behind. */
const skewMs = 3_600_000
/** Another replica may have taken the delivery over before a request that begins later has ended. */
const createWithinMs = 20_000

const Reference = z.object({ repository: z.string(), deployment: z.number().int() })
const Deployment = z.looseObject({ id: z.number().int() })
const Deployments = z.array(
  Deployment.extend({ payload: z.unknown(), created_at: z.string().transform((text) => Date.parse(text)) }),
)
const Payload = z.looseObject({ task: z.string() })

/** One deployment for a task, and a status for each of its events. https://docs.github.com/rest/deployments */
export async function reportToGitHub(
  { app, call, wallMs }: Dependencies,
  message: Message,
  commit: Commit,
): Promise<Attempt> {
  const { task, event, pageUrl } = message
  const { repository, sha, environment, externalUrl } = commit
  const startedMs = wallMs()
  const remembered = Reference.safeParse(message.reference).data
  const known = remembered?.repository === repository ? remembered.deployment : undefined
  const description = cut(plain(notificationHeadline(event, task)), maxDescription)
  const status = {
    state: states[event],
    description,
    ...(pageUrl === '' ? {} : { log_url: pageUrl }),
    ...(externalUrl === undefined ? {} : { environment_url: externalUrl }),
  }

  if (known !== undefined) {
    const fault = await addStatus(known)
    // Without the deployment, a user has deleted it.
    if (fault?.kind !== 'blocked') return result(fault, known)
  }
  const deployment = await findOrCreate()
  if (typeof deployment !== 'number') return result(deployment, undefined)
  return result(await addStatus(deployment), deployment)

  function result(fault: Fault | undefined, id: number | undefined): Attempt {
    const reference = id === undefined ? undefined : { repository, deployment: id }
    return fault === undefined ? { kind: 'sent', reference } : attemptOfFault(fault, reference)
  }

  async function addStatus(id: number): Promise<Fault | undefined> {
    const answer = await request('POST', `/${id}/statuses`, status)
    return 'fault' in answer ? answer.fault : undefined
  }

  async function findOrCreate(): Promise<number | Fault> {
    const found = await find()
    if (found !== undefined) return found
    if (wallMs() - startedMs > createWithinMs) return { kind: 'passing', error: 'GitHub took too long to answer' }
    const answer = await request('POST', '', {
      ref: sha,
      environment,
      auto_merge: false,
      required_contexts: [],
      payload: { task: task.id },
      description: cut(plain(task.app), maxDescription),
    })
    if ('fault' in answer) return answer.fault
    return Deployment.safeParse(answer.json).data?.id ?? unreadable
  }

  /** Ours, which an attempt may have created whose answer was lost. */
  async function find(): Promise<number | Fault | undefined> {
    for (let page = 1; page <= maxPages; page += 1) {
      const query = new URLSearchParams({ sha, environment, per_page: String(pageSize), page: String(page) })
      const answer = await request('GET', `?${query}`)
      if ('fault' in answer) return answer.fault
      const listed = Deployments.safeParse(answer.json).data
      if (listed === undefined) return unreadable
      const ours = listed.find(({ payload }) => taskOf(payload) === task.id)
      if (ours !== undefined) return ours.id
      const oldestMs = listed.at(-1)?.created_at ?? 0
      if (listed.length < pageSize || oldestMs < task.created * 1_000 - skewMs) return undefined
    }
    return undefined
  }

  /** A token that does not count any more is replaced once. */
  async function request(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    isRenewed = false,
  ): Promise<{ readonly json: unknown } | { readonly fault: Fault }> {
    const issued = await app.tokenFor(repository, 'deployments')
    if (!('token' in issued)) return { fault: issued }
    const answer = await call(`${app.apiUrl}/repos/${repository}/deployments${path}`, {
      method,
      headers: gitHubHeaders(`Bearer ${issued.token}`),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      allowsPrivate: true,
      maxAnswerBytes: maxListBytes,
    })
    const lacking = `GitHub App ${app.id} may not report deployments of ${repository}: install it there with the permission deployments: write`
    const fault = faultOf(answer, 'GitHub', lacking)
    if (fault === undefined) return { json: 'text' in answer ? jsonOf(answer.text) : undefined }
    if (fault.kind !== 'unauthorized' || isRenewed) return { fault }
    app.forget(issued.token)
    return request(method, path, body, true)
  }
}

const unreadable: Fault = { kind: 'passing', error: 'GitHub answered something else than its API describes' }

/** The task in the payload of a deployment, which GitHub may give back as a text. */
function taskOf(payload: unknown): string | undefined {
  return Payload.safeParse(typeof payload === 'string' ? jsonOf(payload) : payload).data?.task
}
