import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { SessionState } from '../../../contract/auth.ts'
import { ErrorReply } from '../../../contract/error-reply.ts'
import type { User } from '../access/principal.ts'
import type { IdentityProviderSettings } from './identity-provider-settings.ts'
import type { Session, SessionStore } from './session-store.ts'

type Dependencies = {
  readonly settings: Pick<IdentityProviderSettings, 'privilegedGroups' | 'requireReadAuth'>
  readonly sessions: Pick<SessionStore, 'find'>
  /** Whether a user may change something. */
  readonly isPrivileged: (user: User) => boolean
}

/** The signed-in user, below /api/v1; always null without an identity provider. */
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
          summary: 'Get the signed-in user and what that allows',
          security: [{}, { session: [] }],
          response: { 200: SessionState, 503: ErrorReply },
        },
      },
      async (request) => {
        if (!signIn) return withoutProvider
        // Open pages ask this again and again; a session that is only shown must still end.
        const { session: id } = request.authentication.presented
        return stateOf(id === undefined ? undefined : await signIn.sessions.find(id, 'peek'), signIn)
      },
    )
  }

const withoutProvider: SessionState = {
  enabled: false,
  user: null,
  privileged: false,
  privileged_groups: [],
  read_auth: false,
}

function stateOf(session: Session | undefined, { settings, isPrivileged }: Dependencies): SessionState {
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
    privileged: session !== undefined && isPrivileged(session.user),
    privileged_groups: [...settings.privilegedGroups],
    read_auth: settings.requireReadAuth,
  }
}
