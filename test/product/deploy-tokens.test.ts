import { describe, expect } from 'vitest'
import { DeployTokens, IssuedDeployToken } from '../../contract/auth.ts'
import { serviceUrlOf } from '../support/database.ts'
import type { HttpBrowser } from '../support/http-browser.ts'
import { runCommand } from '../support/run-program.ts'
import { aTask } from '../support/service.ts'
import { test } from '../support/shared-world.ts'
import { type World, withToken } from '../support/world.ts'

let world: World
let ada: HttpBrowser
test.beforeAll(async ({ world: shared }) => {
  world = shared
  ada = await world.signedIn('ada')
})

const path = '/api/v1/deploy-tokens'
const inTenMinutes = () => Math.ceil(Date.now() / 1000) + 600
const request = (change: object = {}) => ({ description: 'pipeline of shop', expires: inTenMinutes(), ...change })
const issue = async (change: object = {}) => {
  const answer = await ada.change(world.service.url, path, 'POST', request(change))
  expect(answer.status).toBe(201)
  return IssuedDeployToken.parse(await answer.json())
}
const listed = async () => DeployTokens.parse(await (await ada.request(`${world.service.url}${path}`)).json()).tokens
const submit = (token: string, app = 'shop') =>
  world.service.submitTask(aTask({ app, wait_for_app: 60 }), { Authorization: `Bearer ${token}` })
const refusal = (reason: RegExp) => ({
  status: 401,
  body: { error: expect.stringMatching(new RegExp(`^credential rejected: the deploy token ${reason.source}`)) },
})

describe('a deploy token for some applications', () => {
  test('is shown once, and only its digest is stored', async () => {
    const issued = await issue({ apps: ['shop'] })
    expect(issued.token).toMatch(/^dwt_[\w-]{43}$/)
    expect(issued).toMatchObject({ apps: ['shop'], created_by: 'ada', last_used: null, revoked: null })
    expect(JSON.stringify(await listed())).not.toContain(issued.token)
    const { rows } = await world.database.query('SELECT deploy_tokens::text AS row FROM watcher.deploy_tokens')
    expect(JSON.stringify(rows)).not.toContain(issued.token.slice(4))
    expect(world.service.logs()).not.toContain(issued.token)
  })

  test('deploys what its globs name, with the right to write, and nothing else', async () => {
    const { token } = await issue({ apps: ['shop', 'team-*', 'v?'] })
    for (const app of ['shop', 'team-a', 'v1']) expect(await submit(token, app)).toMatchObject({ status: 202 })
    for (const app of ['shop2', 'myteam-a', 'v10', 'Shop'])
      expect(await submit(token, app)).toMatchObject(refusal(new RegExp(`is not for ${app}$`)))
    const { rows } = await world.database.query("SELECT DISTINCT may_write FROM watcher.tasks WHERE app = 'team-a'")
    expect(rows).toEqual([{ may_write: true }])
  })

  test('cancels tasks of its applications only', async () => {
    const { token } = await issue({ apps: ['tokens-mine'] })
    await world.addApplications('tokens-mine', 'tokens-theirs')
    const cancel = (id: string) =>
      world.service.request(`/api/v1/tasks/${id}`, { method: 'DELETE', headers: { authorization: token } })
    expect(await cancel(await world.announce('tokens-mine', 'v1'))).toMatchObject({ status: 200 })
    expect(await cancel(await world.announce('tokens-theirs', 'v1'))).toMatchObject(refusal(/is not for tokens-theirs/))
  })

  test('without globs is for all', async () => {
    const { token, apps } = await issue()
    expect(apps).toBeNull()
    expect(await submit(token, 'whatever')).toMatchObject({ status: 202 })
  })

  test('that was revoked is refused at the next request; a second time changes neither its time nor the audit', async () => {
    const { id, token } = await issue()
    expect(await submit(token)).toMatchObject({ status: 202 })
    const revoke = async () => (await ada.change(world.service.url, `${path}/${id}`, 'DELETE')).json()
    const first = await revoke()
    expect(await submit(token)).toMatchObject(refusal(/was revoked at 20/))
    expect(await revoke()).toEqual(first)
    expect((await listed()).find((one) => one.id === id)?.revoked).toBeGreaterThan(1e9)
    const entries = await world.database.query(
      "SELECT FROM watcher.audit WHERE action = 'token_revoked' AND subject = $1",
      [id],
    )
    expect(entries.rowCount).toBe(1)
  })

  test('that has expired cancels the task it submitted, and no other, also where everybody may read', async () => {
    const { id, token } = await issue()
    const own = (await submit(token, 'tokens-open')).body as { id: string }
    const other = (await submit((await issue()).token, 'tokens-other')).body as { id: string }
    await world.database.query('UPDATE watcher.deploy_tokens SET expires = clock_timestamp() WHERE id = $1', [id])
    const headers = { Authorization: `Bearer ${token}` }
    const cancel = (task: string) => world.service.request(`/api/v1/tasks/${task}`, { method: 'DELETE', headers })
    expect(await cancel(other.id)).toMatchObject({ status: 401 })
    expect(await cancel(own.id)).toMatchObject({ status: 200, body: { status: 'cancelled' } })
  })

  test('leaves a keyed digest of itself with its tasks; the static deploy token leaves none', async () => {
    const { token } = await issue()
    await submit(token, 'tokens-digest')
    await world.service.submitTask(aTask({ app: 'tokens-static' }), withToken)
    const digests =
      "SELECT app, cardinality(reader_digests) AS count FROM watcher.tasks WHERE app IN ('tokens-digest', 'tokens-static') ORDER BY app"
    expect((await world.database.query(digests)).rows).toEqual([
      { app: 'tokens-digest', count: 1 },
      { app: 'tokens-static', count: null },
    ])
  })

  test('that has expired says so', async () => {
    const { id, token } = await issue()
    await world.database.query('UPDATE watcher.deploy_tokens SET expires = clock_timestamp() WHERE id = $1', [id])
    expect(await submit(token)).toMatchObject(refusal(/expired at 20/))
  })

  test.for(['dwt_', 'dwt_x', `dwt_${'a'.repeat(43)}`, `dwt_${'a'.repeat(44)}`])('%s is none', async (token) =>
    expect(await submit(token)).toMatchObject(refusal(/is unknown/)),
  )

  test('tells its last use, written once a minute', async () => {
    const { id, token } = await issue()
    const lastUse = async () => (await listed()).find((one) => one.id === id)?.last_used
    await submit(token)
    const first = await lastUse()
    expect(Math.abs(Number(first) - Date.now() / 1000)).toBeLessThan(30)
    await submit(token)
    expect(await lastUse()).toBe(first)
    await world.database.query("UPDATE watcher.deploy_tokens SET last_used = last_used - interval '61 s'")
    await submit(token)
    expect(await lastUse()).toBeGreaterThanOrEqual(Number(first))
  })
})

test('a deploy token may live for a year', async () => {
  const { token } = await issue({ expires: inTenMinutes() + 365 * 86_400 })
  expect(await submit(token)).toMatchObject({ status: 202 })
})

describe('npm run deploy-tokens', () => {
  const run = (...args: string[]) =>
    runCommand('deploy-tokens', args, {
      DATABASE_URL: serviceUrlOf(world.databaseUrl),
      ARGO_URL: 'https://argocd.example',
      ARGO_TOKEN: 'token',
    })

  test('lists and revokes tokens where there is no identity provider', async () => {
    const { id, token } = await issue({ apps: ['shop', 'team-*'] })
    const listing = await run('list')
    expect(listing.stderr).toBe('')
    const line = listing.stdout.split('\n').find((one) => one.startsWith(id))
    expect(line?.split('\t').slice(1, 2)).toEqual(['valid'])
    expect(line).toContain('shop, team-*\tpipeline of shop\tada')
    expect(listing.stdout).not.toContain(token)
    expect((await run('revoke', id)).stdout).toMatch(/^revoked .*pipeline of shop/)
    expect(await submit(token)).toMatchObject(refusal(/was revoked at 20/))
    expect((await run('list')).stdout).toContain(`${id}\trevoked`)
    const { rows } = await world.database.query(
      "SELECT actor_kind FROM watcher.audit WHERE action = 'token_revoked' AND subject = $1",
      [id],
    )
    expect(rows).toEqual([{ actor_kind: 'command' }])
  })

  test('issues a token for some applications, and for all, with a row in the audit', async () => {
    const issued = await run('issue', '--apps', 'shop, team-*', '--days', '90', '--description', 'pipeline of shop')
    const token = issued.stdout.trim()
    expect(token).toMatch(/^dwt_\S+$/)
    expect(issued.stderr).toMatch(/^issued \S+ for shop, team-\*, until 20/)
    expect(await submit(token)).toMatchObject({ status: 202 })
    const [, id = ''] = /^issued (\S+)/.exec(issued.stderr) ?? []
    const { rows } = await world.database.query(
      "SELECT actor_kind, detail FROM watcher.audit WHERE action = 'token_issued' AND subject = $1",
      [id],
    )
    expect(rows).toEqual([{ actor_kind: 'command', detail: 'pipeline of shop, for shop, team-*' }])
    const all = await run('issue', '--apps', 'all', '--days', '1', '--description', 'all')
    expect(await submit(all.stdout.trim())).toMatchObject({ status: 202 })
  })

  test.for([
    [['issue'], '--apps: is required'],
    [['issue', '--apps', 'shop', '--days', '400', '--description', 'x'], '--days: must be 1 to 365'],
    [['issue', '--apps', 'shop,', '--days', '1', '--description', 'x'], '--apps: must not be empty'],
    [['issue', '--apps', 'shop', '--days', '1'], '--description: must not be empty'],
    [['issue', '--app', 'shop'], "Unknown option '--app'"],
    [['unknown'], 'usage: npm run deploy-tokens'],
  ] as const)('%j is wrong usage', ([args, message]) =>
    expect(run(...args)).resolves.toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) }),
  )

  test('rejects an unknown id', () =>
    expect(run('revoke', '00000000-0000-0000-0000-000000000000')).resolves.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('deploy token not found'),
    }))
})

describe('issuing', () => {
  test.for<[string, object, string]>([
    ['an expiry in the past', { expires: 1 }, 'expires: must be in the future'],
    [
      'an expiry after more than a year',
      { expires: inTenMinutes() + 366 * 86_400 },
      'expires: must be at most a year ahead',
    ],
    ['no expiry', { expires: undefined }, 'expires: is required'],
    ['no description', { description: ' ' }, 'description: must not be empty'],
    ['an empty list', { apps: [] }, 'apps: must name at least one application; leave it out for all'],
    ['an empty name', { apps: [''] }, 'apps[0]: must not be empty'],
  ])('with %s is refused', async ([, change, error]) => {
    const before = (await listed()).length
    const answer = await ada.change(world.service.url, path, 'POST', request(change))
    expect([answer.status, await answer.json()]).toMatchObject([406, { error }])
    expect(await listed()).toHaveLength(before)
  })

  test('is listed as long as it is good, whatever number of others is over', async () => {
    const issued = await issue()
    await world.database.query(
      `INSERT INTO watcher.deploy_tokens (id, digest, description, created_by, expires, created)
       SELECT gen_random_uuid(), sha256(n::text::bytea), 'over', 'ada', clock_timestamp(), clock_timestamp()
       FROM generate_series(1, 1100) AS n`,
    )
    const tokens = await listed()
    expect(tokens).toHaveLength(1_000)
    expect(tokens.map(({ id }) => id)).toContain(issued.id)
    expect(tokens.map(({ created }) => created)).toEqual(tokens.map(({ created }) => created).toSorted((a, b) => b - a))
    await world.database.query(`DELETE FROM watcher.deploy_tokens WHERE description = 'over'`)
  })

  test('is for privileged users, as are the list and revoking', async () => {
    const bob = await world.signedIn('bob', ['developers'])
    const { id, token } = await issue()
    for (const [method, at] of [
      ['POST', path],
      ['GET', path],
      ['DELETE', `${path}/${id}`],
      ['GET', '/api/v1/audit'],
    ] as const) {
      const body = method === 'POST' ? request() : undefined
      expect((await bob.change(world.service.url, at, method, body)).status, `${method} ${at}`).toBe(403)
      const asPipeline = { method, headers: { Authorization: token, 'content-type': 'application/json' } }
      const { status } = await world.service.request(at, {
        ...asPipeline,
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      expect(status, `${method} ${at}`).toBe(401)
    }
    expect(await submit(token)).toMatchObject({ status: 202 })
  })

  test.for(['nothing', '00000000-0000-0000-0000-000000000000'])('revoking %s is 404', async (id) =>
    expect((await ada.change(world.service.url, `${path}/${id}`, 'DELETE')).status).toBe(404),
  )
})
