import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { DeployLockDetails, DeployLockState, ErrorReply } from '../../contract/service.ts'
import type { DeployLock } from './deploy-lock.ts'
import { renderLockDetails } from './render-lock-details.ts'

const tags = ['deploy lock']

/** Spec 4: reading the lock is always possible; setting and releasing it do not exist without an identity provider. */
export const lockRoutes =
  (lock: Pick<DeployLock, 'isActive' | 'status'>): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/deploy-lock',
      {
        config: { absentMethods: ['POST', 'DELETE'] },
        schema: {
          tags,
          summary: 'Are new tasks refused now?',
          response: { 200: DeployLockState, 503: ErrorReply },
        },
      },
      () => lock.isActive(),
    )

    app.get(
      '/deploy-lock/details',
      {
        schema: {
          tags,
          summary: 'Why new tasks are refused, until when, and when they will be next',
          response: { 200: DeployLockDetails, 503: ErrorReply },
        },
      },
      async () => renderLockDetails(await lock.status()),
    )
  }
