import { expect, test } from 'vitest'
import { quietHttpServer } from '../../../test/support/quiet-http-server.ts'
import { sessionRoutes } from './session-routes.ts'

test('without an identity provider nobody is signed in, and the pages are told that nobody can be', async () => {
  const app = quietHttpServer()
  app.register(sessionRoutes(undefined), { prefix: '/api/v1' })
  const answer = await app.inject({ url: '/api/v1/session', headers: { cookie: `watcher-session=${'a'.repeat(43)}` } })
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual({
    enabled: false,
    user: null,
    privileged: false,
    privileged_groups: [],
    read_auth: false,
  })
  await app.close()
})
