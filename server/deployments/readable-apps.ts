import type { FastifyRequest } from 'fastify'

/** The applications whose tasks a request may list; undefined: all. */
export const globsOf = ({ readAccess }: FastifyRequest) =>
  readAccess?.kind === 'principal' && readAccess.principal.kind === 'scoped_token'
    ? readAccess.principal.apps
    : undefined
