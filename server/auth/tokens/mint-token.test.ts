import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { verifyJwt } from '../credentials/jwt.ts'
import { mintToken } from './mint-token.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'mint-token-'))
afterAll(() => rmSync(folder, { recursive: true }))
const secret = 'a secret of more than thirty-two bytes'
const now = 1_800_000_000
const month = 30 * 86_400

describe('npm run token', () => {
  test('makes a JWT that the service takes until it expires (spec 2.5)', async () => {
    const args = ['--app', 'shop', '--app', 'shop-api', '--expires', '30d', '--sub', 'pipeline']
    const outcome = await mintToken(args, { JWT_SECRET: secret, JWT_ISSUER: ' us ', JWT_AUDIENCE: 'watcher' }, now)
    if ('issue' in outcome) throw new Error(outcome.issue)
    expect(outcome.summary).toBe('for shop, shop-api until 2027-02-14T08:00:00.000Z')
    const rules = { secrets: [secret], issuer: 'us', audience: 'watcher' }
    expect(await verifyJwt(outcome.token, { ...rules, nowSeconds: now + month - 1 })).toEqual({
      kind: 'valid',
      subject: 'pipeline',
      allowedApps: ['shop', 'shop-api'],
    })
    expect(await verifyJwt(outcome.token, { ...rules, nowSeconds: now + month })).toMatchObject({ kind: 'invalid' })
  })

  test('takes the secret from a file, as the service does', async () => {
    const file = path.join(folder, 'secret')
    writeFileSync(file, `${secret}\n`)
    const outcome = await mintToken(['--app', '*', '--expires', '12h'], { JWT_SECRET_FILE: file }, now)
    if ('issue' in outcome) throw new Error(outcome.issue)
    const rules = { secrets: [secret], issuer: undefined, audience: undefined, nowSeconds: now }
    expect(await verifyJwt(outcome.token, rules)).toEqual({ kind: 'valid', subject: undefined, allowedApps: ['*'] })
  })

  test.for([
    ['30d', 2_592_000],
    ['1h30m', 5_400],
    ['90', 90],
  ])('takes %s as settings do', async ([expires, seconds]) => {
    const outcome = await mintToken(['--app', '*', '--expires', String(expires)], { JWT_SECRET: secret }, now)
    expect(outcome).toMatchObject({
      summary: `for * until ${new Date((Math.floor(now) + Number(seconds)) * 1_000).toISOString()}`,
    })
  })

  test.for<[string, string[], string]>([
    ['no application', ['--expires', '30d'], '--app: name an application'],
    ['no expiry', ['--app', 'shop'], '--expires: must be'],
    ['an expiry of an unknown unit', ['--app', 'shop', '--expires', '30w'], '--expires: must be'],
    ['an expiry of nothing', ['--app', 'shop', '--expires', '0d'], '--expires: must be'],
    ['an expiry in ages', ['--app', 'shop', '--expires', '99999d'], '--expires: must be'],
    ['an unknown option', ['--secret', 'x'], "Unknown option '--secret'"],
    ['a secret that is missing', ['--app', 'shop', '--expires', '30d'], 'JWT_SECRET: is required'],
  ])('%s is an issue', async ([name, args, issue]) => {
    const environment = name === 'a secret that is missing' ? {} : { JWT_SECRET: secret }
    expect(await mintToken(args, environment, now)).toMatchObject({ issue: expect.stringContaining(issue) })
  })
})
