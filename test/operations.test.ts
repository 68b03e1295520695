import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { aTask, startService } from './support/service.ts'

const main = fileURLToPath(new URL('../server/main.ts', import.meta.url))

test('a task outlives a restart, and a stop is clean', async () => {
  await using service = await startService()
  const accepted = await service.submitTask(aTask({ app: 'outlives' }))
  expect(accepted).toMatchObject({ status: 202, body: { id: expect.any(String), status: 'accepted' } })
  const { id } = accepted.body as { id: string }
  await service.restart()
  expect(await service.getTask(id)).toMatchObject({ id, app: 'outlives', status: 'in progress' })
  expect(await service.kill('SIGTERM')).toBe(0)
})

describe('wrong settings end the start with 78 and one report (spec 2.7)', () => {
  const start = (env: Record<string, string>) => spawnSync(process.execPath, [main], { env, encoding: 'utf8' })

  test('three wrong values and a missing one, without their text', () => {
    const { status, stderr, stdout } = start({
      ARGO_URL: 'ftp://hidden-1',
      DATABASE_URL: 'mysql://hidden-2',
      PORT: 'hidden-3',
    })
    expect(status).toBe(78)
    for (const name of ['ARGO_URL', 'ARGO_TOKEN', 'DATABASE_URL', 'PORT']) expect(stderr).toContain(`- ${name}: `)
    expect(stderr + stdout).not.toContain('hidden')
  })

  test('no database where none is started for us names DATABASE_URL', () => {
    const { status, stderr } = start({ ARGO_URL: 'https://argocd.example', ARGO_TOKEN: 'token' })
    expect([status, stderr]).toEqual([78, expect.stringContaining('DATABASE_URL: no database is set')])
  })
})
