import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { LockChange } from '../../contract/notify/lock-change.ts'
import { type ApiAccess, completeOperations } from './complete-operations.ts'
import { dropInputTwins } from './drop-input-twins.ts'

/** The page's own address is the prefix: its scripts and the document lie below it. */
const page = '/swagger/index.html'
/** Where programs look for the document: argo-watcher's path, and one beside the API. */
const documentPaths = ['/swagger/swagger.json', '/api/v1/openapi.json']

/**
 * Adds the API document and its page. To be called before the routes are registered: it collects those that follow.
 * Everything the page loads is bundled, and nothing is asked of other hosts.
 */
export async function addExplorer(app: FastifyInstance, version: string, access: ApiAccess): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Deployment Watcher',
        version,
        description,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags,
      components: { securitySchemes, schemas: { LockChange: lockChangeSchema } },
      webhooks,
    },
    transform: jsonSchemaTransform,
    transformObject: (input) => completeOperations(dropInputTwins(jsonSchemaTransformObject(input)), access),
  })
  await app.register(swaggerUi, {
    routePrefix: page,
    uiConfig: { deepLinking: true, displayRequestDuration: true, persistAuthorization: false },
    theme: { title: 'Deployment Watcher API', css: [{ filename: 'theme.css', content: withoutOtherDocuments }] },
  })
  app.get('/swagger', { schema: { hide: true } }, async (_request, reply) => reply.redirect(page))
  for (const path of documentPaths)
    app.get(path, { config: { isAlwaysReadable: true }, schema: { hide: true } }, async () => app.swagger())
}

const description = `Accepts deployment tasks, watches their rollout and reports the outcome. [Tasks](/tasks) shows them.

Every error is JSON with a field \`error\`.`

/** The bar that would load any other document. */
const withoutOtherDocuments = '.swagger-ui .topbar { display: none }'

/** In the order of the page. */
const tags = [
  { name: 'tasks', description: 'What pipelines submit, wait for and cancel' },
  { name: 'events', description: 'What happens, live and afterwards' },
  { name: 'applications', description: 'How their deployments went' },
  { name: 'deploy lock', description: 'Rejects all new tasks, by hand or on a schedule' },
  { name: 'notifications', description: 'What targets were told' },
  { name: 'deploy tokens', description: 'Application-scoped tokens with an expiry' },
  { name: 'audit', description: 'Who did what' },
  { name: 'sign-in', description: 'With the identity provider' },
  { name: 'service', description: 'Version, settings and health' },
]

const bodyOf = (type: string, data: string) => ({
  content: {
    'application/json': {
      schema: {
        type: 'object' as const,
        required: ['type', 'timestamp', 'data'],
        properties: {
          type: { type: 'string' as const, description: type },
          timestamp: { type: 'string' as const, format: 'date-time' },
          data: { $ref: `#/components/schemas/${data}` },
        },
      },
    },
  },
})

const lockChangeSchema: object = { ...z.toJSONSchema(LockChange), $schema: undefined }

/** What a target of kind webhook receives (docs/notifications.md). */
const webhooks = {
  deployment: {
    post: {
      operationId: 'receiveDeployment',
      summary: 'A deployment began or ended',
      tags: ['notifications'],
      requestBody: bodyOf(
        '`deployment.` and the event: started, succeeded, recovered, failed, aborted or cancelled',
        'Task',
      ),
      responses: { '2XX': { description: 'Taken' } },
    },
  },
  lock: {
    post: {
      operationId: 'receiveLockChange',
      summary: 'The deploy lock changed',
      tags: ['notifications'],
      requestBody: bodyOf('`lock.changed`', 'LockChange'),
      responses: { '2XX': { description: 'Taken' } },
    },
  },
}

const securitySchemes = {
  jwt: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Signed with `JWT_SECRET`, or a scoped deploy token; the header may also hold the bare token.',
  },
  deployToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Watcher-Deploy-Token',
    description:
      'Deprecated: use a JWT. `WATCHER_DEPLOY_TOKEN`, as argo-watcher spells it, is the same, but some proxies drop it; ' +
      'with DEPLOY_TOKEN_IN_QUERY the query parameter `deploy_token` is too.',
    'x-deprecated': true,
  },
  oidc: {
    type: 'apiKey',
    in: 'header',
    name: 'Oidc-Authorization',
    description: 'An access token of the identity provider with the scope `openid`, alone or after `Bearer`.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-watcher-session',
    description:
      'Session of a browser that signed in at `/auth/login`; on plain http the name lacks the prefix `__Host-`.',
  },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Watcher-Csrf',
    description: 'Must be `1` on every change with a session cookie.',
  },
} as const
