import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { ErrorReply, RejectedReply } from '../../contract/error-reply.ts'
import { Deliveries, Delivery, DeliveryFilter, NotificationTargets } from '../../contract/notify/delivery.ts'
import { HttpError } from '../http/request-errors.ts'
import type { NotificationStore } from './outbox/notification-store.ts'
import type { Notifications } from './targets/target.ts'

type Dependencies = {
  readonly store: Pick<NotificationStore, 'list' | 'retry' | 'lastOf'>
  /** As the configuration has them now. */
  readonly targets: () => Notifications['targets']
  /** Rejects unless the caller may see what concerns those who run the service. */
  readonly requireServiceReader: (request: FastifyRequest) => Promise<void>
  /** Rejects unless a user calls who may change something; undefined without an identity provider. */
  readonly requireUser: ((request: FastifyRequest) => Promise<unknown>) | undefined
  readonly wake: () => void
}

const tags = ['notifications']
const refusals = { 401: RejectedReply, 403: ErrorReply, 503: ErrorReply }

/** What was told and what could not be; registered below /api/v1. */
export const deliveryRoutes =
  ({ store, targets, requireServiceReader, requireUser, wake }: Dependencies): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/deliveries',
      {
        schema: {
          tags,
          operationId: 'listDeliveries',
          summary: 'List what targets were told, newest first',
          querystring: DeliveryFilter,
          response: { 200: Deliveries, 400: ErrorReply, ...refusals },
        },
      },
      async (request) => {
        await requireServiceReader(request)
        return { deliveries: await store.list(request.query.state) }
      },
    )
    app.get(
      '/notification-targets',
      {
        schema: {
          tags,
          operationId: 'listNotificationTargets',
          summary: 'List the targets of notifications and what became of the last delivery to each',
          response: { 200: NotificationTargets, ...refusals },
        },
      },
      async (request) => {
        await requireServiceReader(request)
        const named = [...targets()].toSorted(([one], [other]) => (one < other ? -1 : 1))
        const last = await store.lastOf(named.map(([name]) => name))
        return { targets: named.map(([name, { kind }]) => ({ name, kind, ...last.get(name) })) }
      },
    )
    if (requireUser === undefined) return
    app.post(
      '/deliveries/:id/retry',
      {
        schema: {
          tags,
          operationId: 'retryDelivery',
          summary: 'Send a delivery again that is dead or off',
          security: [{ session: [], csrf: [] }, { oidc: [] }],
          params: z.object({ id: z.string() }),
          response: { 200: Delivery, 404: ErrorReply, ...refusals },
        },
      },
      async (request) => {
        await requireUser(request)
        const { id } = request.params
        const delivery = z.guid().safeParse(id).success ? await store.retry(id) : undefined
        if (!delivery) throw new HttpError(404, 'no delivery with this id is dead or off')
        wake()
        return delivery
      },
    )
  }
