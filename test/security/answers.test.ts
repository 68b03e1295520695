import { readdirSync } from 'node:fs'
import path from 'node:path'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createTestDatabase, serviceUrlOf } from '../support/database.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { type Answer, aTask, type Service, startService, withoutLimits } from '../support/service.ts'
import { startWorld, withToken } from '../support/world.ts'
import { errorOf, textOf } from './answers.ts'
import { injections, oddNames } from './hostile-texts.ts'

/** What an error must not contain: hosts, ports, queries, names of the database's, places on the disk, libraries, stacks. */
const hidden = [
  /postgres/i,
  /127\.0\.0\.1|localhost|::1/,
  /:\d{4,5}\b/,
  /econn|etimedout|enotfound|epipe|enoent|eacces/i,
  /\b(?:select|insert into|update .* set|delete from|from "|where )/i,
  /\brelation\b|\bcolumn\b|\bconstraint\b/i,
  /watcher\.|test_[0-9a-f]/,
  /\bat \S+:\d+/,
  /\bat (?:async )?\w+(?:\.\w+)* \(/,
  /\n\s+at /,
  /node:|node_modules/,
  /\.(?:ts|js|mjs|sql)\b/,
  /\/(?:tmp|home|root|usr|var|etc)\//,
  /file:\/\//,
  /password|role "|user "/i,
  /\bpool\b|socket|hang up/i,
  /kysely|pg-|undici|fastify|FST_/i,
  /\bzod|ZodError/i,
  /TypeError|RangeError|SyntaxError|ReferenceError|AggregateError/,
  /is not a function|cannot read propert|undefined is not|is not defined/i,
  /\bjose\b|JWS|JOSE|ERR_/,
  /openid-client|oauth4webapi/i,
  /syntax error|violates|duplicate key value|deadlock/i,
  /pg_catalog|pg_\w+\(/,
  /\b(?:22|23|40|42|53|57)[0-9A-Z]{3}\b/,
  /out of range for type|invalid byte sequence|invalid input syntax/i,
  /unexpected token|in JSON at position/i,
  /\[object \w+\]|\bNaN\b|\bundefined\b/,
  /server\/|deployments\/|storage\//,
  /ARGO_TOKEN|JWT_SECRET=|Bearer eyJ/,
]

const paths = [
  '/tasks',
  '/tasks/ID',
  '/tasks/ID/events',
  '/events',
  '/deploy-lock/details',
  '/apps/summary',
  '/versions',
  '/history',
  '/settings',
  '/status',
  '/tasks/counts?search=x',
  '/tasks/names?field=app&search=x',
  '/tasks?search=x',
]

/** The errors that everything that can be asked gives, with hostile texts wherever one fits. */
async function errorsOf(service: Service, texts: readonly string[]): Promise<Answer[]> {
  const id = crypto.randomUUID()
  const encoded = texts.filter((text) => text.isWellFormed()).map(encodeURIComponent)
  const read = (pathname: string) => service.request(`/api/v1${pathname.replace('ID', id)}`)
  const answers = await Promise.all([
    ...paths.map(read),
    ...encoded.map((text) => read(`/tasks?search=${text}`)),
    ...encoded.map((text) => read(`/versions?search=${text}`)),
    ...encoded.map((text) => read(`/tasks?limit=${text}&cursor=${text}`)),
    ...encoded.map((text) => read(`/tasks/${text.slice(0, 900)}`)),
    ...texts.map((app) => service.submitTask(aTask({ app }))),
    ...texts.map((text) => service.submitTask({ ...aTask(), timeout: text, images: [text] })),
    ...texts.map((text) => service.submitTask(aTask(), { Authorization: Buffer.from(text).toString('base64url') })),
  ])
  return answers.filter(({ status }) => status >= 400)
}

describe('an error shows no SQL, host, path or stack (T37)', () => {
  const judged: Answer[] = []
  const judge = (answers: readonly Answer[]) => {
    const found = answers.flatMap((answer) =>
      hidden.filter((pattern) => pattern.test(errorOf(answer))).map((pattern) => `${pattern}: ${textOf(answer)}`),
    )
    judged.push(...answers)
    return found
  }

  test('while all is well, the database is away, and the database is not as it should be', async () => {
    expect(hidden.length).toBe(30)
    await using database = await createTestDatabase()
    await using proxy = await startFaultProxy({ port: Number(new URL(database.url).port) })
    const databaseUrl = Object.assign(new URL(database.url), { port: String(proxy.port) }).href
    await using service = await startService({
      databaseUrl,
      settings: { JWT_SECRET: 's'.repeat(32), MAX_CONNECTIONS: withoutLimits.MAX_CONNECTIONS },
    })
    expect(judge(await errorsOf(service, [...injections, ...oddNames]))).toEqual([])

    const breaking = new Client({ connectionString: database.url })
    await breaking.connect()
    await breaking.query('ALTER TABLE watcher.tasks RENAME TO elsewhere')
    const broken = await errorsOf(service, injections.slice(0, 10))
    expect(judge(broken)).toEqual([])
    expect(broken.some(({ status }) => status === 500)).toBe(true) // on a busy machine many are 503
    for (const answer of broken.filter(({ status }) => status === 500))
      expect(errorOf(answer)).toMatch(/^internal error, request [0-9a-f-]{36}$/)
    await breaking.query('ALTER TABLE watcher.elsewhere RENAME TO tasks')
    await breaking.end()

    proxy.mood = 'refuse'
    proxy.cut()
    const away = await errorsOf(service, injections.slice(0, 20))
    expect(judge(away)).toEqual([])
    const unavailable = away.filter(({ status }) => status === 503)
    expect(unavailable.length).toBeGreaterThan(40)
    for (const answer of unavailable) expect(answer.headers.get('retry-after') ?? '5').toMatch(/^\d+$/)
    expect((await service.request('/livez')).status).toBe(200)
    expect((await service.request('/api/v1/config')).status).toBe(200)

    console.info(`T37: ${judged.length} bodies, ${hidden.length} patterns`)
    expect(judged.length).toBeGreaterThanOrEqual(500)
  })
})

test('configuration, metrics, health and assets show no secret (T38)', async () => {
  await using world = await startWorld()
  const config = z.record(z.string(), z.unknown()).parse((await world.service.request('/api/v1/config')).body)
  const shown = 'accept_suspended_app argo_api_retries argo_api_timeout argo_cd_url argo_refresh_app deployment_timeout'
  const more = 'log_level mattermost oidc skip_tls_verify state_type webhook'
  expect(Object.keys(config).sort()).toEqual(`${shown} ${more}`.split(' '))
  expect((await world.service.request('/healthz')).body).toEqual({
    status: 'up',
    database: { status: 'up' },
    delivery_controller: expect.objectContaining({ status: 'up' }),
  })
  const metrics = textOf(await world.service.request('/metrics'))
  for (const secret of [
    world.simulator.argoToken,
    withToken['Watcher-Deploy-Token'],
    serviceUrlOf(world.service.databaseUrl),
  ])
    expect(metrics).not.toContain(secret)
  const pages = readdirSync(path.join(import.meta.dirname, '../../web/dist'), { recursive: true, encoding: 'utf8' })
  expect(pages.length).toBeGreaterThan(3)
  expect(pages.filter((file) => file.endsWith('.map'))).toEqual([])
})
