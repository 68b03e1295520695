import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Account } from './accounts.ts'

/** What a request asks for; faults and counts are by kind. */
export type CallKind =
  | 'get'
  | 'refresh'
  | 'list'
  | 'stream'
  | 'tree'
  | 'tree-stream'
  | 'managed-resources'
  | 'events'
  | 'resource'
  | 'logs'
  | 'syncwindows'
  | 'sync'
  | 'terminate'
  | 'rollback'
  | 'userinfo'
  | 'session'
  | 'account-token'
  | 'can-i'
  | 'version'
  | 'healthz'
  | 'webhook'
  | 'other'

/** One request on its way through the simulated server. */
export type Call = {
  kind: CallKind
  application: string | undefined
  url: URL
  request: IncomingMessage
  response: ServerResponse
  account: Account
  /** Aborts when the caller goes away or its `Grpc-Timeout` is over. */
  signal: AbortSignal
  body: string
}

/** One line of the call log. `status` is there once the headers are sent. */
export type LoggedCall = {
  atMs: number
  kind: CallKind
  method: string
  path: string
  application: string | undefined
  status: number | undefined
  durationMs: number | undefined
}
