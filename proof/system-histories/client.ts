import { TaskRecord } from '../../contract/task.ts'
import { aTask } from '../../test/support/service.ts'
import type { Replica } from '../../test/support/world.ts'
import { type Operation, outcomeOf, type Submitted } from './client-history.ts'
import type { Credential } from './plan-history.ts'

const patienceMs = 4_000

/** Secrets that nothing may ever show; the last one is the credential that is not good. */
export const canaries = { deployToken: 'canary-deploy-token-5f1c', badToken: 'canary-wrong-token-a09e' } as const

/** Clients of the replicas: each request becomes one entry of the history, answered or not. */
export function createClient(replicas: readonly Replica[], accessToken: string) {
  const history: Operation[] = []
  /** By the order of the plan; undefined where nothing was accepted for sure. */
  const submissions: { submitted: Submitted; taskId: string | undefined }[] = []
  const nextAuthor = () => `author-${submissions.length}`
  const asUser = { 'oidc-authorization': `Bearer ${accessToken}` }
  let locks = 0

  const ask = async (
    kind: Operation['kind'],
    replica: number,
    pathname: string,
    init: RequestInit,
    more: object = {},
  ) => {
    const atMs = Date.now()
    const answer = await replicas[replica]
      ?.request(pathname, { ...init, signal: AbortSignal.timeout(patienceMs) })
      .catch((error: unknown) => ({ status: undefined, error, body: undefined }))
    const status = answer?.status
    const error = answer !== undefined && 'error' in answer ? answer.error : undefined
    const operation: Operation = {
      kind,
      replica,
      atMs,
      endedMs: Date.now(),
      outcome: outcomeOf(status, error),
      status,
      text: JSON.stringify(answer?.body ?? '') ?? '',
      ...more,
      ...recordIn(answer?.body),
    }
    history.push(operation)
    return { operation, body: answer?.body }
  }

  const submit = async (replica: number, submitted: Submitted): Promise<void> => {
    const entry: (typeof submissions)[number] = { submitted, taskId: undefined }
    submissions.push(entry)
    const { app, tag, author, timeout, key } = submitted
    const task = aTask({ app, author, timeout, images: [{ image: `registry.example/${app}`, tag }] })
    const headers = { ...headersOf(submitted.credential), ...(key === undefined ? {} : { 'idempotency-key': key }) }
    const init = { method: 'POST', headers, body: JSON.stringify(task) }
    const { operation, body } = await ask('submit', replica, '/api/v1/tasks', init, { submitted })
    const id = operation.outcome === 'ok' ? (body as { id: string }).id : undefined // the contract's answer to a 202
    if (id === undefined) return
    entry.taskId = id
    history[history.indexOf(operation)] = { ...operation, taskId: id }
    for (const [other] of replicas.entries()) if (other !== replica) void read(other, id)
  }
  const read = (replica: number, taskId: string) => ask('read', replica, `/api/v1/tasks/${taskId}`, {}, { taskId })

  return {
    history,
    submit,
    async resend(replica: number, submission: number, isChanged: boolean): Promise<void> {
      const first = submissions[submission]?.submitted
      if (!first) return
      const tag = isChanged ? `${first.tag}-changed` : first.tag
      await submit(replica, { ...first, tag, author: first.key === undefined ? nextAuthor() : first.author })
    },
    async setLock(replica: number): Promise<void> {
      locks += 1
      const reason = `lock ${locks}`
      const headers = { ...asUser, 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify({ reason }) }
      await ask('lock', replica, '/api/v1/deploy-lock', init, { reason })
    },
    releaseLock: (replica: number) =>
      ask('unlock', replica, '/api/v1/deploy-lock', { method: 'DELETE', headers: asUser }),
    async read(replica: number, submission: number): Promise<void> {
      const taskId = submissions[submission]?.taskId
      if (taskId) await read(replica, taskId)
    },
    async cancel(replica: number, submission: number, credential: Credential): Promise<void> {
      const taskId = submissions[submission]?.taskId
      if (taskId) {
        const init = { method: 'DELETE', headers: credentialHeaders(credential) }
        await ask('cancel', replica, `/api/v1/tasks/${taskId}`, init, { taskId, credential })
      }
    },
    list: (replica: number) => ask('list', replica, '/api/v1/tasks?limit=20', {}),
    nextAuthor,
  }
}

const credentialHeaders = (credential: Credential): Record<string, string> =>
  credential === 'none'
    ? {}
    : { 'watcher-deploy-token': credential === 'token' ? canaries.deployToken : canaries.badToken }

const headersOf = (credential: Credential) => ({
  'content-type': 'application/json',
  ...credentialHeaders(credential),
})

function recordIn(body: unknown): { seen?: TaskRecord } {
  const record = TaskRecord.safeParse(body)
  return record.success ? { seen: record.data } : {}
}
