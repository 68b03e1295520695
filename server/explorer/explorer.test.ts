import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ErrorReply } from '../../contract/error-reply.ts'
import { TaskAcceptance, TaskRecord, TaskSubmission } from '../../contract/task.ts'
import { quietHttpServer } from '../../test/support/quiet-http-server.ts'
import type { HttpServer } from '../http/server/http-server.ts'
import { type ApiAccess, completeOperations } from './complete-operations.ts'
import { dropInputTwins } from './drop-input-twins.ts'
import { addExplorer } from './explorer.ts'

let app: HttpServer
beforeAll(async () => {
  app = quietHttpServer()
  await addExplorer(app, '1.2.3', { isReadingClosed: false, isCredentialRequired: false, hasUsers: true })
  const routes: FastifyPluginAsyncZod = async (api) => {
    const accepted = { body: TaskSubmission, response: { 202: TaskAcceptance, 406: ErrorReply } }
    api.post('/api/v1/tasks', { schema: accepted }, async (_request, reply) =>
      reply.code(202).send({ id: '1', status: 'accepted' }),
    )
    const read = { params: z.object({ id: z.string() }), response: { 200: TaskRecord } }
    api.get('/api/v1/tasks/:id', { schema: read }, async () => {
      throw new Error('never called')
    })
  }
  app.register(routes)
  await app.ready()
})
afterAll(() => app.close())

describe('the API document', () => {
  const document = async () => (await app.inject('/swagger/index.html/json')).json()

  test('is OpenAPI 3.1 with one schema per name, and only those in use', async () => {
    const { openapi, info, tags, paths, components } = await document()
    expect(openapi).toBe('3.1.0')
    expect(info).toMatchObject({ title: 'Deployment Watcher', version: '1.2.3' })
    expect(Object.keys(paths)).toEqual(['/api/v1/tasks', '/api/v1/tasks/{id}'])
    expect(tags).toEqual([])
    expect(Object.keys(components.schemas).sort()).toEqual([
      'CancelledBy',
      'Condition',
      'Culprit',
      'DeployedTask',
      'Diagnosis',
      'Error',
      'Evidence',
      'Image',
      'Impact',
      'LaterEvidence',
      'Link',
      'LockChange',
      'NewerTask',
      'NextStep',
      'Occurrence',
      'Pod',
      'PodLog',
      'Source',
      'SupersededBy',
      'Task',
      'TaskAcceptance',
      'TaskSubmission',
    ])
  })

  test('every reference leads somewhere', async () => {
    const text = JSON.stringify(await document())
    const { components } = JSON.parse(text)
    const names = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(3)
    for (const name of names) expect(components.schemas).toHaveProperty(String(name))
  })

  test('names both credentials', async () => {
    expect((await document()).components.securitySchemes).toMatchObject({
      jwt: { type: 'http', scheme: 'bearer' },
      deployToken: { type: 'apiKey', in: 'header', name: 'Watcher-Deploy-Token' },
    })
  })
})

describe('the credentials that the document names', () => {
  const read = { responses: { 401: {} } }
  const submit = { security: [{}, { jwt: [] }, { session: [], csrf: [] }], responses: { 401: {} } }
  const schemes = { jwt: {}, deployToken: {}, oidc: {}, session: {}, csrf: {} }
  const completed = (access: Partial<ApiAccess>) => {
    const document = {
      paths: { '/tasks': { get: read, post: submit }, '/session': { get: { security: [{}, { session: [] }] } } },
      components: { securitySchemes: schemes },
    }
    const { paths, components } = completeOperations(document, {
      isReadingClosed: false,
      isCredentialRequired: false,
      hasUsers: true,
      ...access,
    })
    const waysOf = (operation: object) => ('security' in operation ? operation.security : undefined)
    return {
      get: waysOf(paths['/tasks'].get),
      post: waysOf(paths['/tasks'].post),
      session: waysOf(paths['/session'].get),
      schemes: Object.keys(components.securitySchemes),
    }
  }
  const readers = [{ jwt: [] }, { deployToken: [] }, { oidc: [] }, { session: [] }]

  test('are those that the settings take', () => {
    const session = [{}, { session: [] }]
    expect(completed({})).toEqual({
      get: [{}, ...readers],
      post: submit.security,
      session,
      schemes: Object.keys(schemes),
    })
    expect(completed({ isReadingClosed: true, isCredentialRequired: true })).toMatchObject({
      get: readers,
      post: submit.security.slice(1),
      session,
    })
    expect(completed({ hasUsers: false })).toEqual({
      get: [{}, { jwt: [] }, { deployToken: [] }],
      post: [{}, { jwt: [] }],
      session: [{}],
      schemes: ['jwt', 'deployToken'],
    })
  })
})

describe('the page', () => {
  test('is at /swagger/index.html, with what it loads', async () => {
    const page = await app.inject('/swagger/index.html')
    expect(page).toMatchObject({ statusCode: 200 })
    expect(page.headers['content-type']).toContain('text/html')
    expect(page.headers['content-security-policy']).toContain("script-src 'self'")
    const loaded = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => String(url))
    expect(loaded.length).toBeGreaterThan(4)
    for (const url of loaded) {
      expect(url).toMatch(/^\/swagger\//)
      expect((await app.inject(url)).statusCode).toBe(200)
    }
    expect(page.body).not.toMatch(/<script(?![^>]*src=)|\son\w+=/)
  })

  test.for(['/swagger', '/swagger/'])('%s leads to it', async (url) => {
    expect(await app.inject(url)).toMatchObject({ statusCode: 302, headers: { location: '/swagger/index.html' } })
  })

  test('asks no validator elsewhere', async () => {
    expect((await app.inject('/swagger/index.html/static/swagger-initializer.js')).body).toContain('validatorUrl: null')
  })
})

describe('tidying the schemas', () => {
  const to = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const tidied = (paths: unknown[], schemas: Record<string, unknown>) => {
    const { components, ...rest } = dropInputTwins({ paths, components: { schemas } })
    return { ...rest, schemas: components.schemas }
  }

  test('equal twins become one', () => {
    const image = { type: 'object', properties: { tag: { type: 'string' } } }
    expect(
      tidied([to('ImageInput'), to('Image')], { Image: { ...image, additionalProperties: false }, ImageInput: image }),
    ).toEqual({ paths: [to('Image'), to('Image')], schemas: { Image: image } })
  })

  test('twins that differ stay two, and so do those that refer to them', () => {
    const schemas = {
      A: { items: to('B') },
      AInput: { items: to('BInput') },
      B: { type: 'string' },
      BInput: { type: 'number' },
    }
    expect(tidied([to('A'), to('AInput')], schemas)).toEqual({ paths: [to('A'), to('AInput')], schemas })
  })

  test('what nothing refers to is left out, also when it refers to itself', () => {
    expect(tidied([to('A')], { A: {}, B: { items: to('B') } })).toEqual({ paths: [to('A')], schemas: { A: {} } })
  })
})
