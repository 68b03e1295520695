import { request } from 'node:http'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

/** One call and what was answered. */
type Exchange = { readonly method: string; readonly path: string; readonly status: number; readonly body: string }
type ClientRun = {
  readonly exitCode: 0 | 1
  readonly lines: readonly string[]
  readonly exchanges: readonly Exchange[]
}

const required = ['ARGO_WATCHER_URL', 'IMAGES', 'IMAGE_TAG', 'ARGO_APP', 'COMMIT_AUTHOR', 'PROJECT_NAME']
/** Any other word is an error to it. */
const knownStatuses = [
  'in progress',
  'deployed',
  'failed',
  'cancelled',
  'aborted',
  'app not found',
  'argocd is unavailable',
]
const Acceptance = z.object({ id: z.string().min(1) })
const Polled = z.object({ status: z.string(), status_reason: z.string().optional() })
const Config = z.object({ argo_cd_url: z.string(), argo_cd_url_alias: z.string().optional() })

/** Why the pipeline fails. */
class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/**
 * Does what argo-watcher's client 1.x does with its environment: what it sends, what it takes for an answer, and what it
 * gives up at. Only its first wait, of 5 s, is left out.
 */
export async function runArgoWatcherClient(environment: Readonly<Record<string, string>>): Promise<ClientRun> {
  const lines: string[] = []
  const exchanges: Exchange[] = []
  const limitMs = durationMs(environment.TIMEOUT ?? '60s')

  async function call(method: string, path: string, headers: Record<string, string>, body?: string): Promise<Exchange> {
    const answer = await send(new URL(path, environment.ARGO_WATCHER_URL), method, headers, limitMs, body)
    exchanges.push({ method, path, ...answer })
    if (environment.DEBUG === 'true') lines.push(`${method} ${path}: ${answer.status} ${answer.body}`)
    return { method, path, ...answer }
  }

  async function waitForEnd(id: string): Promise<void> {
    const untilMs = performance.now() + durationMs(environment.EXPECTED_DEPLOY_TIME ?? '15m')
    while (performance.now() < untilMs) {
      const { status, body } = await call('GET', `/api/v1/tasks/${id}`, credentialOf(environment))
      if (status >= 400 && status < 500) throw new GivenUp(`${status}: ${body}`)
      const task = Polled.parse(JSON.parse(body))
      if (!knownStatuses.includes(task.status)) throw new GivenUp(`unknown status ${task.status}`)
      if (task.status === 'deployed') return
      if (task.status !== 'in progress') throw new GivenUp(`${task.status}: ${task.status_reason}`)
      await delay(durationMs(environment.RETRY_INTERVAL ?? '15s'))
    }
    throw new GivenUp('not deployed in the expected time')
  }

  try {
    const missing = required.filter((name) => !environment[name])
    if (missing.length > 0) throw new GivenUp(`missing: ${missing.join(', ')}`)
    const headers = { 'Content-Type': 'application/json; charset=UTF-8', ...credentialOf(environment) }
    const accepted = await call('POST', '/api/v1/tasks', headers, submissionOf(environment))
    if (accepted.status !== 202) throw new GivenUp(`${accepted.status}: ${accepted.body}`)
    const { id } = Acceptance.parse(JSON.parse(accepted.body))
    lines.push(`task ${id}`)
    await waitForEnd(id)
    return { exitCode: 0, lines, exchanges }
  } catch (error) {
    lines.push(String(error))
    if (exchanges.length > 0) {
      const { argo_cd_url: url, argo_cd_url_alias: alias } = Config.parse(
        JSON.parse((await call('GET', '/api/v1/config', {})).body),
      )
      lines.push(`${alias ?? url}/applications/${environment.ARGO_APP}`)
    }
    return { exitCode: 1, lines, exchanges }
  }
}

const credentialOf = ({ BEARER_TOKEN: jwt, ARGO_WATCHER_DEPLOY_TOKEN: token }: Readonly<Record<string, string>>) => ({
  ...(jwt ? { Authorization: `Bearer ${jwt}` } : {}),
  ...(token && !jwt ? { Argo_watcher_deploy_token: token } : {}),
})

const submissionOf = (environment: Readonly<Record<string, string>>) =>
  JSON.stringify({
    app: environment.ARGO_APP,
    author: environment.COMMIT_AUTHOR,
    project: environment.PROJECT_NAME,
    images: environment.IMAGES?.split(',').map((image) => ({ image, tag: environment.IMAGE_TAG })),
    ...(environment.TASK_TIMEOUT ? { timeout: Number(environment.TASK_TIMEOUT) } : {}),
    ...(environment.TASK_REFRESH ? { refresh: environment.TASK_REFRESH === 'true' } : {}),
  })

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 }
function durationMs(text: string): number {
  const [, count, unit = ''] = /^(\d+)(ms|s|m)$/.exec(text) ?? []
  return Number(count) * (unitMs[unit] ?? Number.NaN)
}

/** Names of headers go out in the case they are given in, which `fetch` would not do. */
function send(url: URL, method: string, headers: Record<string, string>, limitMs: number, body?: string) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const call = request(url, { method, headers, signal: AbortSignal.timeout(limitMs), agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
    })
    call.on('error', reject).end(body)
  })
}
