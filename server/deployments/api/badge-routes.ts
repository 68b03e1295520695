import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { ErrorReply } from '../../../contract/error-reply.ts'
import { line } from '../../../contract/field-schemas.ts'
import { type BadgeTask, renderBadge } from '../badge/render-badge.ts'

type Dependencies = {
  readonly readTask: (app: string) => Promise<BadgeTask | undefined>
  /** The name that tasks have of an application. */
  readonly canonicalName: (app: string) => string
}

/** A badge is an image on pages of other hosts, and runs nothing where it is opened by itself. */
const headers = {
  'Cache-Control': 'max-age=60',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

/** Badges without a credential, where PUBLIC_BADGES has opened them; registered below /api/v1. */
export const badgeRoutes =
  ({ readTask, canonicalName }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/apps/:app/badge.svg',
      {
        config: { isAlwaysReadable: true },
        schema: {
          tags: ['applications'],
          operationId: 'getBadge',
          summary: 'Get a badge with the state of an application',
          description:
            'Only with `PUBLIC_BADGES=true`, and then without a credential. Encode the name, `team-a%2Fshop`. An application without a deployment gets the badge `unknown`.',
          security: [],
          params: z.object({ app: line(255) }),
          response: {
            200: { description: 'OK', content: { 'image/svg+xml': { schema: z.string() } } },
            404: ErrorReply,
            503: ErrorReply,
          },
        },
      },
      async ({ params }, reply) => {
        const badge = renderBadge(await readTask(canonicalName(params.app)))
        return reply.headers(headers).type('image/svg+xml; charset=utf-8').send(badge)
      },
    )
  }
