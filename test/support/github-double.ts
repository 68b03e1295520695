import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { jwtVerify } from 'jose'
import { z } from 'zod'

type Operation = 'findInstallation' | 'createToken' | 'listDeployments' | 'createDeployment' | 'createDeploymentStatus'
type JsonSchema = Parameters<typeof z.fromJSONSchema>[0] & object
type Described = {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, JsonSchema>>
  readonly body: JsonSchema | null
  readonly answer: { readonly status: number; readonly schema: JsonSchema }
}
type Deployment = { readonly id: number; readonly payload: unknown; readonly [field: string]: unknown }
type Status = { readonly state: string; readonly [field: string]: unknown }
type Call = { readonly operation: Operation; readonly repository: string; readonly body: Record<string, unknown> }
type Fault = {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
  /** The request is carried out, and its answer lost. */
  readonly isLost?: boolean
}

const described: Readonly<Record<Operation, Described>> = JSON.parse(
  readFileSync(new URL('../fixtures/github/openapi.json', import.meta.url), 'utf8'),
).operations
const schemaOf = (schema: JsonSchema) => z.fromJSONSchema(schema, { defaultTarget: 'openapi-3.0' })
const operations = Object.entries(described).map(([name, { method, path, query, body, answer }]) => ({
  name: name as Operation,
  method,
  pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  query: z.strictObject(
    Object.fromEntries(
      Object.entries(query).map(([field, { type }]) => [
        field,
        (type === 'integer' ? z.coerce.number().int() : z.string()).optional(),
      ]),
    ),
  ),
  body: body === null ? z.undefined() : schemaOf({ ...body, additionalProperties: false } as JsonSchema),
  status: answer.status,
  answer: schemaOf(answer.schema),
}))
const prefix = '/api/v3'
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

/** GitHub's API for one App: it rejects each request that its public description does not have, and what the App may not do. */
export function createGitHubDouble() {
  const appId = '123'
  const installed = new Map<string, readonly string[]>()
  const tokens = new Map<string, { readonly repository: string; readonly permissions: readonly string[] }>()
  const deployments = new Map<string, Deployment[]>()
  const statuses = new Map<number, Status[]>()
  const calls: Call[] = []
  const refusals: string[] = []
  const faults = new Map<Operation, Fault[]>()
  let maxDelayMs = 0

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const url = new URL((request.url ?? '').slice(prefix.length), 'http://github')
    const send = (status: number, body: object, headers: Readonly<Record<string, string>> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    const refuse = (why: string) => {
      refusals.push(`${request.method} ${url.pathname}: ${why}`)
      return send(400, { message: why })
    }
    await delay(Math.random() * maxDelayMs)
    const operation = operations.find(({ method, pattern }) => method === request.method && pattern.test(url.pathname))
    if (operation === undefined) return void refuse('no such operation')
    const { accept, 'user-agent': agent, 'x-github-api-version': version } = request.headers
    if (accept !== 'application/vnd.github+json' || agent === undefined || version === undefined)
      return void refuse('accept, user-agent or version')
    const query = operation.query.safeParse(Object.fromEntries(url.searchParams))
    if (!query.success) return void refuse(query.error.message)
    const body = operation.body.safeParse(text === '' ? undefined : JSON.parse(text))
    if (!body.success) return void refuse(body.error.message)
    const path = operation.pattern.exec(url.pathname)?.groups ?? {}
    const repository = `${path.owner}/${path.repo}`.toLowerCase()
    const fields = (body.data ?? {}) as Record<string, unknown>
    calls.push({ operation: operation.name, repository, body: fields })
    const fault = faults.get(operation.name)?.shift()
    if (fault !== undefined && !fault.isLost)
      return void send(fault.status, fault.body ?? { message: 'fault' }, fault.headers)
    const authorization = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    const done = await perform(operation.name, { ...path, repository }, { query: query.data, fields, authorization })
    if (fault?.isLost) return void request.socket.destroy()
    if ('refused' in done) return void send(done.refused, { message: `refused with ${done.refused}` })
    const fits = operation.answer.safeParse(done.result)
    if (!fits.success) throw new Error(`the double answers otherwise than described: ${fits.error.message}`)
    send(operation.status, done.result)
  }

  type Given = {
    readonly query: Readonly<Record<string, unknown>>
    readonly fields: Readonly<Record<string, unknown>>
    readonly authorization: string
  }
  type Done = { readonly result: object } | { readonly refused: number }

  async function perform(name: Operation, path: Record<string, string>, given: Given): Promise<Done> {
    const { repository = '' } = path
    if (name === 'findInstallation' || name === 'createToken') {
      const isApp = await jwtVerify(given.authorization, publicKey, { issuer: appId, maxTokenAge: '10 minutes' }).then(
        ({ payload }) => Number(payload.exp) - Number(payload.iat) <= 600,
        () => false,
      )
      if (!isApp) return { refused: 401 }
      return name === 'findInstallation' ? findInstallation(repository) : createToken(given.fields)
    }
    const token = tokens.get(given.authorization)
    if (token === undefined) return { refused: 401 }
    if (token.repository !== repository) return { refused: 404 }
    if (!token.permissions.includes('deployments')) return { refused: 403 }
    const known = deployments.get(repository) ?? []
    if (name === 'createDeployment') return create(repository, known, given.fields)
    if (name === 'listDeployments') return { result: list(known, given.query) }
    const id = Number(path.deployment_id)
    if (!known.some((one) => one.id === id)) return { refused: 404 }
    return addStatus(repository, id, given.fields)
  }

  function findInstallation(repository: string): Done {
    if (!installed.has(repository)) return { refused: 404 }
    const url = 'https://api.github.com/x'
    const at = new Date().toISOString()
    return {
      result: {
        id: 7,
        account: null,
        app_id: Number(appId),
        target_id: 1,
        target_type: 'Organization',
        repository_selection: 'selected',
        access_tokens_url: url,
        repositories_url: url,
        html_url: url,
        events: [],
        created_at: at,
        updated_at: at,
        single_file_name: null,
        app_slug: 'deployment-watcher',
        suspended_by: null,
        suspended_at: null,
      },
    }
  }

  function createToken(fields: Given['fields']): Done {
    const [name] = fields.repositories as string[]
    const repository = [...installed.keys()].find((one) => one.split('/')[1] === name?.toLowerCase())
    const permissions = Object.entries(fields.permissions as object)
      .filter(([, level]) => level === 'write')
      .map(([permission]) => permission)
    if (repository === undefined || (fields.repositories as string[]).length !== 1) return { refused: 422 }
    if (!permissions.every((one) => installed.get(repository)?.includes(one))) return { refused: 422 }
    const token = `ghs_${randomUUID().replaceAll('-', '')}`
    tokens.set(token, { repository, permissions })
    return { result: { token, expires_at: new Date(Date.now() + 3_600_000).toISOString() } }
  }

  function create(repository: string, known: readonly Deployment[], fields: Given['fields']): Done {
    const at = new Date().toISOString()
    const url = `https://api.github.com/repos/${repository}/deployments`
    const id = 1_000 + [...deployments.values()].flat().length
    const deployment = {
      task: 'deploy',
      description: null,
      ...fields,
      url: `${url}/${id}`,
      id,
      node_id: `node-${id}`,
      sha: fields.ref,
      creator: null,
      created_at: at,
      updated_at: at,
      statuses_url: `${url}/${id}/statuses`,
      repository_url: `https://api.github.com/repos/${repository}`,
      payload: id % 2 === 0 ? fields.payload : JSON.stringify(fields.payload),
    }
    deployments.set(repository, [deployment, ...known])
    return { result: deployment }
  }

  function list(known: readonly Deployment[], query: Given['query']): object {
    const { sha, environment, per_page: size = 30, page = 1 } = query
    const found = known.filter((one) => one.sha === sha && one.environment === environment)
    return found.slice(Number(size) * (Number(page) - 1), Number(size) * Number(page))
  }

  function addStatus(repository: string, id: number, fields: Given['fields']): Done {
    if (String(fields.description ?? '').length > 140) return { refused: 422 }
    const url = `https://api.github.com/repos/${repository}/deployments/${id}`
    const at = new Date().toISOString()
    statuses.set(id, [...(statuses.get(id) ?? []), fields as Status])
    return {
      result: {
        description: '',
        target_url: fields.log_url ?? url,
        ...fields,
        url: `${url}/statuses/1`,
        id: 1,
        node_id: 'node',
        creator: null,
        created_at: at,
        updated_at: at,
        deployment_url: url,
        repository_url: `https://api.github.com/repos/${repository}`,
      },
    }
  }

  return {
    settings: {
      GITHUB_APP_ID: appId,
      GITHUB_APP_PRIVATE_KEY: String(privateKey.export({ type: 'pkcs1', format: 'pem' })),
    },
    /** Answers where the path is of the API; else the caller does. */
    serve(request: IncomingMessage, response: ServerResponse): boolean {
      if (!request.url?.startsWith(`${prefix}/`)) return false
      answer(request, response).catch((error: unknown) => {
        refusals.push(String(error))
        response.destroy()
      })
      return true
    },
    install: (repository: string, ...permissions: readonly string[]) =>
      void installed.set(repository.toLowerCase(), permissions),
    uninstall: (repository: string) => void installed.delete(repository.toLowerCase()),
    /** Ends all tokens. */
    endTokens: () => tokens.clear(),
    /** Whether a token counts for Git in a repository, whose path may end in `.git`. */
    mayUseGit: (token: string, repository: string) => {
      const known = tokens.get(token)
      return (
        known?.permissions.includes('contents') === true &&
        known.repository === repository.replace(/\.git$/, '').toLowerCase()
      )
    },
    /** Tokens that were handed out, ended ones included. */
    tokens: () => [...tokens.keys()],
    fail: (operation: Operation, ...next: readonly Fault[]) => void faults.set(operation, [...next]),
    /** Each answer takes a random part of it. */
    delay(maxMs: number) {
      maxDelayMs = maxMs
    },
    calls: () => [...calls],
    /** Requests that do not fit the description. */
    refusals: () => [...refusals],
    /** Deployments of a task, each with the states that it got. */
    ofTask: (task: string) =>
      [...deployments.values()]
        .flat()
        .filter(({ payload }) => JSON.stringify(payload).includes(task))
        .map((deployment) => ({ ...deployment, statuses: statuses.get(deployment.id) ?? [] })),
    forget() {
      calls.length = 0
      refusals.length = 0
      faults.clear()
    },
  }
}

/** The API on a port of its own. */
export async function startGitHubDouble() {
  const double = createGitHubDouble()
  const server = createServer((request, response) => {
    if (!double.serve(request, response)) response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`
  return {
    ...double,
    url,
    settings: { ...double.settings, GITHUB_API_URL: url },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
