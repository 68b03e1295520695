import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { aTask, startService } from '../support/service.ts'

const secret = 'a secret of this test, long enough to be good'
const token = (env: Record<string, string>, ...args: string[]) =>
  spawnSync('npm', ['run', '--silent', 'token', '--', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
  })

describe('npm run token', () => {
  test('prints a JWT that the service takes, for the applications it names where that is enforced', async () => {
    const { status, stdout, stderr } = token({ JWT_SECRET: secret }, '--app', 'shop', '--expires', '30d')
    expect(status).toBe(0)
    expect(stderr).toContain('for shop until 20')
    await using service = await startService({ settings: { JWT_SECRET: secret, JWT_ENFORCE_ALLOWED_APPS: 'true' } })
    const headers = { Authorization: stdout.trim() }
    expect(await service.submitTask(aTask({ app: 'shop' }), headers)).toMatchObject({ status: 202 })
    expect(await service.submitTask(aTask({ app: 'other' }), headers)).toMatchObject({ status: 401 })
  })
})
