import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isReadMethod } from '../../http/is-read-method.ts'
import { isForeignOrigin } from '../../http/judge-origin.ts'
import { HttpError } from '../../http/request-errors.ts'
import { UnauthorizedError } from './auth-errors.ts'
import type { Principal } from './principal.ts'
import type { Reader } from './reader.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no credential even where reading does. */
    isAlwaysReadable?: boolean
    /** Shows a scoped credential no more than its scope; other routes refuse one. */
    isReadableInScope?: boolean
    /** Shows one task, also to the credential that submitted it and has expired since. */
    isReadableByOwner?: boolean
  }
  interface FastifyRequest {
    /** Undefined where reading is open. */
    reader: Reader | undefined
  }
}

type Dependencies = {
  readonly publicUrl: string | undefined
  readonly sessionIdOf: (request: FastifyRequest) => string | undefined
  /** Rejects with a {@link UnauthorizedError}. The identity provider is not asked about sessions. */
  readonly identify: (request: FastifyRequest) => Promise<Principal>
  /** Tokens, as they were presented. */
  readonly credentialsOf: (request: FastifyRequest) => readonly string[]
}

/** Closes what can be read below `prefix` to callers without a good credential. */
export function addReadGuard(http: FastifyInstance, prefix: string, dependencies: Dependencies): void {
  // After onRequest, which reads cookies.
  http.addHook('preParsing', async (request) => {
    const { url, config } = request.routeOptions
    const isRead = isReadMethod(request.method)
    if (!isRead || config.isAlwaysReadable || !url?.startsWith(`${prefix}/`)) return
    request.reader = await readerOf(request, dependencies)
  })
}

/** What a request may read, by its credential. @throws {UnauthorizedError} for none, or none that is good */
export async function readerOf(request: FastifyRequest, dependencies: Dependencies): Promise<Reader> {
  const { publicUrl, sessionIdOf, identify, credentialsOf } = dependencies
  if (sessionIdOf(request) !== undefined && isForeignOrigin(request.headers, publicUrl))
    throw new HttpError(403, 'cross-origin request rejected')
  const { config } = request.routeOptions
  try {
    return asReader(await identify(request), config.isReadableInScope === true)
  } catch (error) {
    const credentials = credentialsOf(request)
    const mayBeOwner = config.isReadableByOwner === true && credentials.length > 0
    if (error instanceof UnauthorizedError && mayBeOwner)
      return { kind: 'own_tasks', credentials, refusal: error.message }
    throw error
  }
}

function asReader(caller: Principal, isReadableInScope: boolean): Reader {
  if (caller.kind !== 'scoped_token' || caller.apps === undefined) return { kind: 'everything' }
  if (isReadableInScope) return { kind: 'applications', globs: caller.apps }
  throw new UnauthorizedError('credential rejected: the deploy token may read tasks of its applications only')
}
