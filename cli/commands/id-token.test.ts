import type { RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { answer, issueUntil, startEndpoint, tokenUntil } from '../credential/start-endpoint.ts'
import { runProgram } from './program.ts'

const requestToken = 'se-cret-of-the-runner'
const sentence = 'credential rejected: rule "shop": ref is refs/heads/dev, must be refs/heads/main'
const soon = () => Math.floor(Date.now() / 1_000)

async function run(args: readonly string[], variables: Record<string, string>) {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await runProgram(args, {
    variables,
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    interrupted: new AbortController().signal,
  })
  return { code, out: out.join(''), err: err.join('') }
}

/** A service on which each submission is deployed at once; the task of `shop` has the id `shop`. */
const deploys: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const { app } = request.method === 'POST' ? JSON.parse(Buffer.concat(chunks).toString()) : { app: undefined }
    const id = app ?? request.url?.split('/').at(-1)
    const task = { id, app: id, status: 'deployed', created: 1, updated: 2, images: [], author: 'ada' }
    const body = request.url?.includes('/tasks?') ? { tasks: [task] } : task
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
}
const refuses = answer(401, JSON.stringify({ error: sentence }))

const github = (address: string) => ({
  GITHUB_ACTIONS: 'true',
  ACTIONS_ID_TOKEN_REQUEST_URL: `${address}/token?api-version=2.0`,
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
})
const deploy = (...apps: string[]) => [
  'deploy',
  ...apps.flatMap((app) => ['--app', app, '--image', `registry.example/${app}:1`]),
]

type Requests = Awaited<ReturnType<typeof startEndpoint>>['requests']
const sent = (requests: Requests) =>
  requests.map(({ method, url, headers }) => `${method} ${url?.replace('/api/v1', '')} ${headers.authorization ?? '-'}`)

describe('GitHub Actions', () => {
  const first = soon() + 300

  test('deploy sends one ID token for the address of the service, and masks it', async () => {
    await using issuer = await startEndpoint(issueUntil(first))
    await using service = await startEndpoint(deploys)
    const variables = { WATCHER_URL: `${service.address}/`, ...github(issuer.address) }
    const { code, out, err } = await run(deploy('shop', 'api'), variables)
    const bearer = `Bearer ${tokenUntil(first)}`
    expect(sent(service.requests).toSorted()).toEqual([
      `GET /tasks/api ${bearer}`,
      `GET /tasks/shop ${bearer}`,
      `POST /tasks ${bearer}`,
      `POST /tasks ${bearer}`,
    ])
    expect(sent(issuer.requests)).toEqual([
      `GET /token?api-version=2.0&audience=${encodeURIComponent(service.address)} bearer ${requestToken}`,
    ])
    expect(out.split('\n')[0]).toBe(`::add-mask::${tokenUntil(first)}`)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.replace(/^.*\n/, '')).not.toContain(tokenUntil(first))
    expect(out + err).not.toContain(requestToken)
  })

  test('each task is read with the ID token that submitted it', async () => {
    const [one, other] = [soon() + 30, soon() + 40]
    await using issuer = await startEndpoint(issueUntil(one), issueUntil(other))
    await using service = await startEndpoint(deploys)
    await run(deploy('shop', 'api'), { WATCHER_URL: service.address, ...github(issuer.address) })
    expect(sent(service.requests)).toEqual(
      expect.arrayContaining([
        `GET /tasks/shop Bearer ${tokenUntil(one)}`,
        `GET /tasks/api Bearer ${tokenUntil(other)}`,
      ]),
    )
    expect(issuer.requests).toHaveLength(2)
  })

  test('wait reads with another one once less than a minute of the first is left', async () => {
    const [one, other] = [soon() + 30, soon() + 300]
    await using issuer = await startEndpoint(issueUntil(one), issueUntil(other))
    await using service = await startEndpoint(deploys)
    await run(['wait', 'shop'], { WATCHER_URL: service.address, ...github(issuer.address) })
    expect(sent(service.requests)).toEqual([`GET /tasks/shop Bearer ${tokenUntil(other)}`])
  })

  test.for([['wait', 'shop'], ['status', 'shop'], ['list'], ['cancel', 'shop']])(
    '%s %s sends it, for the audience that is given',
    async (args) => {
      await using issuer = await startEndpoint(issueUntil(first))
      await using service = await startEndpoint(deploys)
      const variables = { WATCHER_URL: service.address, ...github(issuer.address) }
      const { code } = await run([...args.filter((one) => one !== undefined), '--audience', 'a b'], variables)
      expect(code).toBe(0)
      expect(service.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${tokenUntil(first)}`])
      expect(issuer.requests.map(({ url }) => url)).toEqual(['/token?api-version=2.0&audience=a%20b'])
    },
  )

  test('--no-token requests none', async () => {
    await using issuer = await startEndpoint(issueUntil(first))
    await using service = await startEndpoint(deploys)
    const variables = { WATCHER_URL: service.address, ...github(issuer.address) }
    expect(await run([...deploy('shop'), '--no-token'], variables)).toMatchObject({ code: 0 })
    expect([issuer.requests, sent(service.requests)]).toEqual([[], ['POST /tasks -', 'GET /tasks/shop -']])
  })

  test.for(['text', 'json'])(
    'one that is not issued ends the run before anything is submitted, as %s',
    async (form) => {
      await using issuer = await startEndpoint(answer(403))
      await using service = await startEndpoint(deploys)
      const variables = { WATCHER_URL: service.address, ...github(issuer.address) }
      const { code, out, err } = await run([...deploy('shop', 'api'), '--output', form], variables)
      const message = `no ID token from GitHub Actions: ${issuer.address} returned 403; --no-token sends no credential`
      expect(code).toBe(4)
      expect(form === 'json' ? err : out).toContain(`api not deployed: ${message}\n`)
      if (form === 'json')
        expect(JSON.parse(out)).toEqual({
          tasks: ['shop', 'api'].map((app) => ({ app, error: message, exit_code: 4 })),
        })
      expect([issuer.requests.length, service.requests.length]).toEqual([1, 0])
      expect(out + err).not.toContain(requestToken)
    },
  )

  test.for([
    ['wait', 'shop'],
    ['status', 'shop'],
  ])('%s ends with 4 or 3 where none is issued', async (args) => {
    for (const [status, expected] of [
      [403, 4],
      [503, 3],
    ] as const) {
      await using issuer = await startEndpoint(answer(status))
      const variables = { WATCHER_URL: 'http://127.0.0.1:1', ...github(issuer.address) }
      const { code, err } = await run(args, variables)
      expect({ code, err }).toMatchObject({ code: expected, err: expect.stringContaining(`returned ${status}`) })
    }
  })
})

describe('a 401 repeats the sentence of the service and says what to do', () => {
  test.for([
    ['deploy', deploy('shop'), 'shop not deployed: '],
    ['wait', ['wait', 'shop'], 'shop cannot be followed: '],
    ['status', ['status', 'shop'], 'deployment-watcher: '],
    ['list', ['list'], 'deployment-watcher: '],
    ['lock status', ['lock', 'status'], 'deployment-watcher: '],
  ] as const)('%s', async ([, args, prefix]) => {
    const end = soon() + 300
    await using issuer = await startEndpoint(issueUntil(end))
    await using service = await startEndpoint(refuses)
    const variables = { WATCHER_URL: service.address }
    const situations = [
      [{ ...variables, WATCHER_TOKEN: 'se-cret' }, 'Check WATCHER_TOKEN, or give --no-token to send no credential'],
      [{ ...variables, ...github(issuer.address) }, `for the audience ${service.address} was sent. Check`],
      [{ ...variables, GITHUB_ACTIONS: 'true' }, 'the job needs `permissions: id-token: write`'],
    ] as const
    for (const [given, advice] of situations) {
      const { code, out, err } = await run(args, given)
      expect(code).toBe(4)
      expect(out + err).toContain(`${prefix}${sentence}\n`)
      expect(out + err).toContain(advice)
      const shown = (out + err).replace(/^::add-mask::.*$/m, '')
      expect(shown).not.toContain('se-cret')
      expect(shown).not.toContain(tokenUntil(end))
    }
  })
})
