import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { SessionState } from '../../../contract/auth.ts'
import { ErrorReply } from '../../../contract/service.ts'
import { privilegeFault } from '../access/authorize.ts'
import type { IdentityProviderSettings } from './identity-provider-settings.ts'
import type { Session } from './session-store.ts'

type Dependencies = {
  readonly settings: Pick<IdentityProviderSettings, 'privilegedGroups' | 'requireReadAuth'>
  readonly sessionOf: (request: FastifyRequest) => Promise<Session | undefined>
}

/** Who am I? Registered below /api/v1; without an identity provider nobody is anybody. */
export const sessionRoutes =
  (signIn: Dependencies | undefined): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/session',
      {
        config: { isAlwaysReadable: true },
        schema: {
          tags: ['sign-in'],
          operationId: 'getSession',
          summary: 'Who the browser is signed in as, and what that allows',
          security: [{}, { session: [] }],
          response: { 200: SessionState, 503: ErrorReply },
        },
      },
      async (request) => (signIn ? stateOf(await signIn.sessionOf(request), signIn.settings) : withoutProvider),
    )
  }

const withoutProvider: SessionState = {
  enabled: false,
  user: null,
  privileged: false,
  privileged_groups: [],
  read_auth: false,
}

function stateOf(session: Session | undefined, settings: Dependencies['settings']): SessionState {
  return {
    enabled: true,
    user: session
      ? {
          subject: session.user.subject,
          name: session.user.name,
          groups: [...session.user.groups],
          expires: session.expires.getTime() / 1000,
        }
      : null,
    privileged: session !== undefined && privilegeFault(session.user, settings.privilegedGroups) === undefined,
    privileged_groups: [...settings.privilegedGroups],
    read_auth: settings.requireReadAuth,
  }
}
