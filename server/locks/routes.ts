import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { DeployLockState, ErrorReply } from '../../contract/service.ts'

type DeployLock = { readonly isActive: () => Promise<boolean> }

/** Spec 4: reading the lock is always possible; setting and releasing it do not exist without an identity provider. */
export const lockRoutes =
  (lock: DeployLock): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/deploy-lock',
      {
        config: { absentMethods: ['POST', 'DELETE'] },
        schema: {
          tags: ['deploy lock'],
          summary: 'Are new tasks refused now?',
          response: { 200: DeployLockState, 503: ErrorReply },
        },
      },
      () => lock.isActive(),
    )
  }
