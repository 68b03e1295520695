import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { openFileDatabase } from '../../test/support/database.ts'
import { mintJwt } from '../../test/support/mint-jwt.ts'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'
import { openAuth } from './open-auth.ts'

const secret = 'a secret of more than thirty-two bytes'
const jwt = mintJwt({ exp: Date.now() / 1000 + 600, allowed_apps: ['shop'] }, secret)
const { database } = await openFileDatabase()

/** A service whose reading is closed, that counts how often a request's headers and the secret of its JWT are read. */
async function countingService() {
  const counts = { headers: 0, secret: 0 }
  const jwtSecret = () => {
    counts.secret += 1
    return secret
  }
  const auth = openAuth({
    settings: {
      deployToken: undefined,
      isDeployTokenTakenFromQuery: false,
      jwtSecret,
      jwtSecretPrevious: undefined,
      jwtIssuer: undefined,
      jwtAudience: undefined,
      enforceAllowedApps: true,
      controlPlaneNamespace: 'argocd',
      requireCredential: true,
    },
    idp: {
      issuerUrl: 'http://127.0.0.1:9',
      clientId: 'watcher',
      clientSecret: undefined,
      privilegedGroups: [],
      scopes: 'openid',
      audiences: ['watcher'],
      requireReadAuth: true,
      allowHttpIssuer: true,
    },
    ciRules: () => [],
    publicUrl: undefined,
    database,
    wallMs: Date.now,
    monotonicMs: () => performance.now(),
    originOf: ({ ip }) => ({ address: ip, weight: 1 }),
    log: { warn: () => undefined, error: () => undefined },
  })
  const http = quietHttpServer()
  http.addHook('onRequest', async ({ raw }) => {
    const { rawHeaders } = raw
    Object.defineProperty(raw, 'rawHeaders', {
      get() {
        counts.headers += 1
        return rawHeaders
      },
    })
  })
  auth.addRoutes(http, { prefix: '/api/v1' })
  return { http, auth, counts, [Symbol.asyncDispose]: () => http.close() }
}

test('a read that a user must make verifies its JWT once, for the closed reading and for the route', async () => {
  await using service = await countingService()
  const answer = await service.http.inject({ url: '/api/v1/deploy-tokens', headers: { authorization: jwt } })
  expect(answer.json()).toMatchObject({ error: expect.stringContaining('only a user may do this') })
  expect(service.counts).toEqual({ headers: 1, secret: 1 })
})

test('what a submission asks about its credential parses the headers once and verifies the JWT once', async () => {
  await using service = await countingService()
  const { http, auth, counts } = service
  const everything = async (request: FastifyRequest) => {
    const isValid = await auth.hasValidCredential(request)
    const { kind } = await auth.requireAccess(request, 'submit', 'shop')
    return { isValid, kind, digest: auth.readerDigestOf(request)('task')?.length }
  }
  http.register(async (app) => void app.post('/everything', everything))
  const headers = { authorization: jwt, 'content-type': 'application/json' }
  const answer = await http.inject({ method: 'POST', url: '/everything', headers, payload: '{}' })
  expect(answer.json()).toEqual({ isValid: true, kind: 'jwt', digest: 32 })
  expect(counts).toEqual({ headers: 1, secret: 1 })
})
