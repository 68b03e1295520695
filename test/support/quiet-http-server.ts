import { answerTo } from '../../server/compose/error-replies.ts'
import { createHttpServer } from '../../server/http/server/http-server.ts'

type Settings = Parameters<typeof createHttpServer>[0]

/** The real server without routes, pages or log, for tests that inject requests. */
export function quietHttpServer(change: Partial<Settings> = {}) {
  const log = { level: 'silent', destination: { write: () => undefined }, secrets: () => [] }
  return createHttpServer({
    answerTo,
    log,
    publicUrl: undefined,
    maxConnections: 1_000,
    trustedProxies: [],
    webFolder: undefined,
    ...change,
  })
}
