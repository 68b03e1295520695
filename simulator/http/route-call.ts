import type { CallKind } from './call.ts'

export type Route =
  | { kind: CallKind; application: string | undefined }
  | { kind: 'not-found' }
  | { kind: 'method-not-allowed' }

const applicationParts: Readonly<Record<string, { kind: CallKind; method: string }>> = {
  'resource-tree': { kind: 'tree', method: 'GET' },
  'managed-resources': { kind: 'managed-resources', method: 'GET' },
  events: { kind: 'events', method: 'GET' },
  resource: { kind: 'resource', method: 'GET' },
  logs: { kind: 'logs', method: 'GET' },
  syncwindows: { kind: 'syncwindows', method: 'GET' },
  sync: { kind: 'sync', method: 'POST' },
  rollback: { kind: 'rollback', method: 'POST' },
  operation: { kind: 'terminate', method: 'DELETE' },
}

const plainPaths: Readonly<Record<string, { kind: CallKind; method: string }>> = {
  '/api/v1/applications': { kind: 'list', method: 'GET' },
  '/api/v1/stream/applications': { kind: 'stream', method: 'GET' },
  '/api/v1/session/userinfo': { kind: 'userinfo', method: 'GET' },
  '/api/v1/session': { kind: 'session', method: 'POST' },
  '/api/version': { kind: 'version', method: 'GET' },
  '/api/webhook': { kind: 'webhook', method: 'POST' },
  '/healthz': { kind: 'healthz', method: 'GET' },
}

/** Which call a method and path mean. A name with a slash in it, escaped or not, is no application's. */
export function routeCall(method: string, url: URL): Route {
  const plain = plainPaths[url.pathname]
  if (plain)
    return plain.method === method ? { kind: plain.kind, application: undefined } : { kind: 'method-not-allowed' }
  const [, stream] = /^\/api\/v1\/stream\/applications\/([^/]+)\/resource-tree$/.exec(url.pathname) ?? []
  if (stream) return named('tree-stream', stream)
  if (/^\/api\/v1\/account\/can-i\/[^/]+\/[^/]+\/.+$/.test(url.pathname))
    return { kind: 'can-i', application: undefined }
  if (/^\/api\/v1\/account\/[^/]+\/token$/.test(url.pathname))
    return method === 'POST' ? { kind: 'account-token', application: undefined } : { kind: 'method-not-allowed' }
  const [, name, part] = /^\/api\/v1\/applications\/([^/]+)(?:\/([^/]+))?$/.exec(url.pathname) ?? []
  if (!name) return { kind: 'not-found' }
  if (part === undefined) {
    if (method !== 'GET') return { kind: 'method-not-allowed' }
    return named(url.searchParams.get('refresh') ? 'refresh' : 'get', name)
  }
  const known = applicationParts[part]
  if (!known) return { kind: 'not-found' }
  return known.method === method ? named(known.kind, name) : { kind: 'method-not-allowed' }
}

function named(kind: CallKind, escaped: string): Route {
  const application = decodeURIComponent(escaped)
  return application.includes('/') ? { kind: 'not-found' } : { kind, application }
}
