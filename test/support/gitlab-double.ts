import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

type Fault = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly isLost?: boolean }
type Deployment = {
  readonly id: number
  readonly sha: string
  readonly ref: string
  readonly tag: boolean
  readonly environment: string
  readonly states: string[]
  readonly createdAt: string
}

// As https://docs.gitlab.com/api/deployments/ and https://docs.gitlab.com/api/commits/ describe requests.
const states = z.enum(['running', 'success', 'failed', 'canceled'])
const Creation = z.strictObject({
  environment: z.string().min(1),
  sha: z.string().min(1),
  ref: z.string().min(1),
  tag: z.boolean(),
  status: states,
})
const Update = z.strictObject({ status: states })
const List = z.strictObject({
  environment: z.string().optional(),
  order_by: z.enum(['id', 'iid', 'created_at', 'updated_at', 'ref']).optional(),
  sort: z.enum(['asc', 'desc']).optional(),
  per_page: z.coerce.number().int().max(100).optional(),
  page: z.coerce.number().int().optional(),
})
const CommitStatus = z.strictObject({
  state: z.enum(['pending', 'running', 'success', 'failed', 'canceled', 'skipped']),
  ref: z.string().optional(),
  name: z.string().max(255).optional(),
  target_url: z.url().max(255).optional(),
  description: z.string().max(255).optional(),
})
const gitLabToken = 'glpat-of-the-tests'

/** GitLab's API for one project and token: it rejects what its description does not have. */
export async function startGitLabDouble(project: string) {
  const deployments: Deployment[] = []
  const commitStatuses: z.infer<typeof CommitStatus>[] = []
  const calls: string[] = []
  const refusals: string[] = []
  let faults: Fault[] = []
  let maxDelayMs = 0

  const shown = ({ states: all, environment, createdAt, tag: _, ...one }: Deployment) => ({
    ...one,
    iid: one.id,
    status: all.at(-1),
    created_at: createdAt,
    updated_at: createdAt,
    environment: { id: 9, name: environment, external_url: null },
    deployable: null,
    user: null,
  })

  type Answer = { readonly status: number; readonly body: unknown }
  const refuse = (why: string): Answer => {
    refusals.push(why)
    return { status: 400, body: { message: why } }
  }
  const readable = <Form extends z.ZodType>(form: Form, value: unknown, use: (fields: z.infer<Form>) => Answer) => {
    const parsed = form.safeParse(value)
    return parsed.success ? use(parsed.data) : refuse(parsed.error.message)
  }

  function perform(method: string, url: URL, body: unknown): Answer {
    const [, path, rest = ''] = /^\/api\/v4\/projects\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? []
    if (path === undefined) return refuse(`${method} ${url.pathname}`)
    if (decodeURIComponent(path).toLowerCase() !== project)
      return { status: 404, body: { message: '404 Project Not Found' } }
    calls.push(`${method} ${rest.replace(/\d+$|[0-9a-f]{40}/, '…')}`)
    if (method === 'GET' && rest === '') return { status: 200, body: { id: 1, default_branch: 'trunk' } }
    if (rest === '/deployments' && method === 'POST')
      return readable(Creation, body, ({ status, ...fields }) => {
        const id = deployments.length + 40
        deployments.push({ ...fields, id, states: [status], createdAt: new Date().toISOString() })
        return { status: 201, body: shown(deployments.at(-1) as Deployment) }
      })
    if (rest === '/deployments' && method === 'GET')
      return readable(List, Object.fromEntries(url.searchParams), ({ environment, per_page: size = 20 }) => ({
        status: 200,
        body: deployments
          .filter((one) => one.environment === environment)
          .toReversed()
          .slice(0, size)
          .map(shown),
      }))
    const [, id] = /^\/deployments\/(\d+)$/.exec(rest) ?? []
    const known = deployments.find((one) => one.id === Number(id))
    if (id !== undefined && known === undefined) return { status: 404, body: { message: '404 Not found' } }
    if (known !== undefined && method === 'GET') return { status: 200, body: shown(known) }
    if (known !== undefined && method === 'PUT')
      return readable(Update, body, ({ status }) => {
        if (known.states.at(-1) === status) return { status: 400, body: { message: { status: ['cannot transition'] } } }
        known.states.push(status)
        return { status: 200, body: shown(known) }
      })
    if (/^\/statuses\/[0-9a-f]{40}$/.test(rest) && method === 'POST')
      return readable(CommitStatus, body, (fields) => {
        const last = commitStatuses.findLast(({ name }) => name === fields.name)
        if (last?.state === fields.state)
          return { status: 400, body: { message: `Cannot transition status via :x from :${last.state}` } }
        commitStatuses.push(fields)
        return { status: 201, body: { id: 93, sha: rest.slice(-40), status: fields.state, name: fields.name } }
      })
    return refuse(`${method} ${url.pathname}`)
  }

  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    await delay(Math.random() * maxDelayMs)
    if (request.headers['private-token'] !== gitLabToken) return send(401, { message: '401 Unauthorized' })
    const fault = faults.shift()
    if (fault !== undefined && !fault.isLost) return send(fault.status, { message: 'fault' }, fault.headers)
    const url = new URL(request.url ?? '', 'http://gitlab')
    const { status, body } = perform(request.method ?? '', url, text === '' ? undefined : JSON.parse(text))
    if (fault?.isLost) return void request.socket.destroy()
    send(status, body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    settings: { GITLAB_URL: url, GITLAB_TOKEN: gitLabToken },
    url,
    deploymentsOf: (sha: string) => deployments.filter((one) => one.sha === sha),
    commitStatuses: () => [...commitStatuses],
    calls: () => [...calls],
    refusals: () => [...refusals],
    fail(...next: readonly Fault[]) {
      faults = [...next]
    },
    delay(maxMs: number) {
      maxDelayMs = maxMs
    },
    forget() {
      calls.length = 0
      refusals.length = 0
      commitStatuses.length = 0
      faults = []
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
