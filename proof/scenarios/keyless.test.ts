import { expect, test } from 'vitest'
import { openConfigFile } from '../../test/support/config-file.ts'
import { aTask } from '../../test/support/service.ts'
import { startTokenIssuer } from '../../test/support/token-issuer.ts'
import { startWorld } from '../../test/support/world.ts'

const everyMs = 200
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('keys are rotated, the issuer is away for a minute, and a replica is killed meanwhile: no good token is refused', async () => {
  await using issuer = await startTokenIssuer()
  const rule = { name: 'shop', issuer: issuer.url, audience: 'us', match: { repository_id: '1' }, apps: 'all' }
  using config = openConfigFile({ ci_identities: [rule] })
  await using world = await startWorld({
    settings: { CONFIG_FILE: config.file, REQUIRE_CREDENTIAL: 'true', MAX_UNFINISHED_PER_APP: '10000' },
  })
  const submit = async () => {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer.url, aud: 'us', sub: 'job', iat: now, exp: now + 300, repository_id: '1' }
    const headers = { Authorization: `Bearer ${await issuer.sign(claims)}` }
    return world.service.submitTask(aTask({ app: 'gone' }), headers)
  }
  /** How often each status was answered. */
  const submitFor = async (ms: number) => {
    const counts: Record<number, number> = {}
    for (const endMs = performance.now() + ms; performance.now() < endMs; await pause(everyMs)) {
      const { status } = await submit()
      counts[status] = (counts[status] ?? 0) + 1
    }
    return counts
  }

  const before = await submitFor(5_000)
  await issuer.rotate()
  const rotated = await submitFor(70_000)
  issuer.answer('away')
  const away = await submitFor(61_000)
  await world.service.kill('SIGKILL')
  await world.service.restart()
  const unknown = await submitFor(5_000)
  issuer.answer('well')
  const back = await submitFor(15_000)
  console.log({ before, rotated, away, unknown, back, calls: issuer.calls().length })

  expect(Object.keys(before)).toEqual(['202'])
  expect(Object.keys(rotated)).toEqual(['202', '503']) // 503 until the keys may be asked for again
  expect((await submit()).status).toBe(202)
  expect(Object.keys(away)).toEqual(['202'])
  expect(Object.keys(unknown)).toEqual(['503'])
  expect(Object.keys(back)).toContain('202')
  expect(Object.keys(back)).not.toContain('401')
})
