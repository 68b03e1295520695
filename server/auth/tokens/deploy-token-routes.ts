import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { DeployToken, DeployTokenRequest, DeployTokens, IssuedDeployToken } from '../../../contract/auth.ts'
import { ErrorReply, RejectedReply } from '../../../contract/error-reply.ts'
import type { Actor } from '../../audit/record-action.ts'
import { HttpError, InvalidRequestError } from '../../http/request-errors.ts'
import type { DeployTokenStore } from './deploy-token-store.ts'

type Dependencies = {
  readonly deployTokens: Pick<DeployTokenStore, 'issue' | 'list' | 'revoke'>
  /** Rejects unless a user calls who may do this. */
  readonly requireUser: (request: FastifyRequest) => Promise<Actor>
}

const tags = ['deploy tokens']
const security = [{ session: [], csrf: [] }, { oidc: [] }]
const refusals = { 401: RejectedReply, 403: ErrorReply, 503: ErrorReply }

/** Tokens that are good for some applications; registered below /api/v1, and only with an identity provider. */
export const deployTokenRoutes =
  ({ deployTokens, requireUser }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      '/deploy-tokens',
      {
        schema: {
          tags,
          operationId: 'issueDeployToken',
          summary: 'Issue a deploy token for some applications, or for all',
          description: 'The token is shown only in this response. Send it in `Authorization`, like a JWT.',
          security,
          body: DeployTokenRequest,
          response: { 201: IssuedDeployToken, 406: RejectedReply, ...refusals },
        },
      },
      async (request, reply) => {
        const issued = await deployTokens.issue(request.body, await requireUser(request))
        if (issued === 'past') throw new InvalidRequestError('body', ['expires: must be in the future'])
        if (issued === 'too_late') throw new InvalidRequestError('body', ['expires: must be at most a year ahead'])
        return reply.code(201).send(issued)
      },
    )

    app.get(
      '/deploy-tokens',
      {
        schema: {
          tags,
          operationId: 'listDeployTokens',
          summary: 'List deploy tokens, newest first, also expired and revoked ones',
          security: [{ session: [] }, { oidc: [] }],
          response: { 200: DeployTokens, ...refusals },
        },
      },
      async (request) => {
        await requireUser(request)
        return { tokens: await deployTokens.list() }
      },
    )

    app.delete(
      '/deploy-tokens/:id',
      {
        schema: {
          tags,
          operationId: 'revokeDeployToken',
          summary: 'Revoke a deploy token',
          security,
          params: z.object({ id: z.string() }),
          response: { 200: DeployToken, 404: ErrorReply, ...refusals },
        },
      },
      async (request) => {
        const actor = await requireUser(request)
        const { id } = request.params
        const revoked = z.guid().safeParse(id).success ? await deployTokens.revoke(id, actor) : undefined
        if (!revoked) throw new HttpError(404, 'deploy token not found')
        return revoked
      },
    )
  }
