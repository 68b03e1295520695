import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mintJwt } from '../../test/support/mint-jwt.ts'
import { aTask, type Service, startService } from '../../test/support/service.ts'
import { startWorld } from '../../test/support/world.ts'

const first = 'the first secret of this test, over 32 bytes'
const second = 'the second secret of this test, over 32 bytes'
const exp = Math.floor(Date.now() / 1000) + 3_600

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'deployment-watcher-rotation-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** As a mounted secret changes: the new file takes the place of the old one. */
async function mount(name: string, text: string): Promise<string> {
  const file = path.join(folder, name)
  await writeFile(`${file}.new`, `${text}\n`)
  await rename(`${file}.new`, file)
  return file
}

const statusOf = async (service: Service, headers: Record<string, string>) =>
  (await service.submitTask(aTask(), headers)).status
const withJwt = (secret: string) => ({ Authorization: mintJwt({ exp }, secret) })
const withDeployToken = (token: string) => ({ 'Watcher-Deploy-Token': token })

test('credentials in mounted files are rotated without a restart, and none is refused meanwhile (spec 2.5)', async () => {
  const settings = {
    WATCHER_DEPLOY_TOKEN_FILE: await mount('deploy-token', 'token-1'),
    JWT_SECRET_FILE: await mount('jwt-secret', first),
    JWT_SECRET_PREVIOUS_FILE: await mount('jwt-secret-previous', first),
  }
  await using service = await startService({ settings })
  expect(await statusOf(service, withDeployToken('token-1'))).toBe(202)
  expect(await statusOf(service, withJwt(first))).toBe(202)
  expect(await statusOf(service, withJwt(second))).toBe(401)

  await mount('jwt-secret', second)
  for (const secret of [first, second]) expect(await statusOf(service, withJwt(secret))).toBe(202)
  await mount('jwt-secret-previous', second)
  expect(await statusOf(service, withJwt(first))).toBe(401)
  expect(await statusOf(service, withJwt(second))).toBe(202)

  await mount('jwt-secret-previous', first)
  expect(await statusOf(service, withJwt(first))).toBe(202)
  await mount('jwt-secret-previous', '')
  expect(await statusOf(service, withJwt(first))).toBe(401) // the rotation is over

  await mount('deploy-token', 'token-2')
  expect(await statusOf(service, withDeployToken('token-1'))).toBe(401)
  expect(await statusOf(service, withDeployToken('token-2'))).toBe(202)
  expect(service.logs()).not.toMatch(/token-[12]|secret of this test/)
})

test('behind a trusted proxy the address of the sign-in is the one that people asked for, else it is ours', async () => {
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'watcher.example' }
  const redirectUriOf = async (settings: Record<string, string>) => {
    await using world = await startWorld({ parts: ['provider'], settings: settings })
    const answer = await world.service.request('/auth/login', { headers: forwarded, redirect: 'manual' })
    const cookie = answer.headers.getSetCookie()[0] ?? ''
    const uri = new URL(String(answer.headers.get('location'))).searchParams.get('redirect_uri')
    return { uri: uri?.replace(world.service.url, 'OURS'), isBoundToHost: cookie.startsWith('__Host-') }
  }
  const named = { uri: 'https://watcher.example/auth/callback', isBoundToHost: true }
  expect(await redirectUriOf({ TRUST_PROXY: 'loopback' })).toEqual(named)
  expect(await redirectUriOf({ PUBLIC_URL: 'https://watcher.example' })).toEqual(named)
  const ours = { uri: 'OURS/auth/callback', isBoundToHost: false }
  expect(await redirectUriOf({})).toEqual(ours)
  expect(await redirectUriOf({ TRUST_PROXY: '192.0.2.0/24' })).toEqual(ours)
})
