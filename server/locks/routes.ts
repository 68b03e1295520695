import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import {
  CalendarRange,
  DeployLockCalendar,
  DeployLockDetails,
  DeployLockState,
  LockRequest,
} from '../../contract/deploy-lock.ts'
import { ErrorReply, RejectedReply } from '../../contract/error-reply.ts'
import type { Actor } from '../audit/record-action.ts'
import { InvalidRequestError } from '../http/request-errors.ts'
import type { DeployLock } from './deploy-lock.ts'
import type { DeployLockStore } from './deploy-lock-store.ts'

type Switch = Pick<DeployLockStore, 'set' | 'release'> & {
  /** Rejects unless a user calls who may change the lock. */
  readonly requireUser: (request: FastifyRequest) => Promise<Actor>
}

type DeployLockReader = Pick<DeployLock, 'isActive' | 'details' | 'calendarAround' | 'calendar'>

const tags = ['deploy lock']
const security = [{ session: [], csrf: [] }, { oidc: [] }]
const refusals = { 401: RejectedReply, 403: ErrorReply, 503: ErrorReply }
const json = 'application/json; charset=utf-8'

/**
 * Spec 4: reading the lock is always possible. Setting and releasing it do not exist without an identity provider, which
 * is when there is no `manual` switch.
 */
export const lockRoutes =
  (lock: DeployLockReader, manual: Switch | undefined): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/deploy-lock',
      {
        config: { absentMethods: ['POST', 'DELETE'], isAlwaysReadable: true },
        schema: {
          tags,
          operationId: 'getDeployLock',
          summary: 'Get the deploy lock state',
          response: { 200: DeployLockState, 503: ErrorReply },
        },
      },
      () => lock.isActive(),
    )

    app.get(
      '/deploy-lock/details',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'getDeployLockDetails',
          summary: 'Get the reason and end of the deploy lock, and the next lockdown',
          response: { 200: DeployLockDetails, 401: RejectedReply, 503: ErrorReply },
        },
      },
      () => lock.details(),
    )

    app.get(
      '/deploy-lock/calendar',
      {
        config: { isReadableInScope: true },
        schema: {
          tags,
          operationId: 'getDeployLockCalendar',
          summary: 'List lockdown windows, locks and overrides in a range',
          description:
            'Returns the lockdown windows of the current schedule, and the locks and overrides of users. A schedule without a pause is ' +
            'one interval that begins before `from` and ends after `to`.',
          querystring: CalendarRange,
          response: { 200: DeployLockCalendar, 400: ErrorReply, 401: RejectedReply, 503: ErrorReply },
        },
      },
      (request) => lock.calendar(request.query),
    )

    if (!manual) return

    app.post(
      '/deploy-lock',
      {
        schema: {
          tags,
          operationId: 'setDeployLock',
          summary: 'Set the deploy lock',
          description: 'After the response no task is accepted until the lock is released. A body is optional.',
          security,
          body: LockRequest.nullish(),
          response: { 200: z.literal('deploy lock is set'), 406: RejectedReply, 415: ErrorReply, ...refusals },
        },
      },
      async (request, reply) => {
        const actor = await manual.requireUser(request)
        const { reason = null, until } = request.body ?? {}
        const outcome = await manual.set({ reason, until: until === undefined ? null : new Date(until * 1000) }, actor)
        if (outcome === 'past') throw new InvalidRequestError('body', ['until: must be in the future'])
        return reply.type(json).send('"deploy lock is set"' as 'deploy lock is set') // a string is sent as it is
      },
    )

    app.delete(
      '/deploy-lock',
      {
        schema: {
          tags,
          operationId: 'releaseDeployLock',
          summary: 'Release the deploy lock',
          description: 'Inside a lockdown window tasks are accepted for 15 minutes, or until it ends.',
          security,
          response: { 200: z.literal('deploy lock is released'), ...refusals },
        },
      },
      async (request, reply) => {
        await manual.release(lock.calendarAround, await manual.requireUser(request))
        return reply.type(json).send('"deploy lock is released"' as 'deploy lock is released')
      },
    )
  }
