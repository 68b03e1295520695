import type { FastifyInstance } from 'fastify'
import { acceptsEventStream } from './accepts-event-stream.ts'
import { isReadMethod } from './is-read-method.ts'
import { parseJsonBody } from './json-body.ts'
import { judgeHeaderList } from './judge-header-list.ts'
import { judgeMediaType } from './judge-media-type.ts'
import { isForeignOrigin } from './judge-origin.ts'
import { RefusedRequestError } from './request-errors.ts'

/** What must hold of every request before its route sees it. */
export function addRequestRules(app: FastifyInstance, publicUrl: string | undefined): void {
  app.addHook('onRequest', async ({ raw, method, headers }) => {
    const fault = judgeHeaderList(raw.rawHeaders, raw.httpVersion)
    if (fault) throw new RefusedRequestError(fault.status, fault.error)
    const isGuarded = !isReadMethod(method) || acceptsEventStream(headers.accept)
    if (isGuarded && isForeignOrigin(headers, publicUrl)) {
      throw new RefusedRequestError(403, 'a page of another origin may not change anything here, nor follow events')
    }
  })
  app.addHook('preParsing', async ({ method, headers }) => {
    const fault = isReadMethod(method) ? undefined : judgeMediaType(headers)
    if (fault !== undefined) throw new RefusedRequestError(415, fault)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    parseJsonBody(body),
  )
}
