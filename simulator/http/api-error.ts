import { goJson } from './go-json.ts'

/** gRPC's codes and the HTTP statuses that the gateway makes of them. */
const httpStatuses: Readonly<Record<number, readonly [status: number, text: string]>> = {
  1: [408, 'Request Timeout'],
  2: [500, 'Internal Server Error'],
  3: [400, 'Bad Request'],
  4: [504, 'Gateway Timeout'],
  5: [404, 'Not Found'],
  6: [409, 'Conflict'],
  7: [403, 'Forbidden'],
  8: [429, 'Too Many Requests'],
  9: [400, 'Bad Request'],
  10: [409, 'Conflict'],
  12: [501, 'Not Implemented'],
  13: [500, 'Internal Server Error'],
  14: [503, 'Service Unavailable'],
  16: [401, 'Unauthorized'],
}

/** A call that the API refuses, by its gRPC code. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
  get status(): number {
    return httpStatuses[this.code]?.[0] ?? 500
  }
}

export const permissionDenied = () => new ApiError(7, 'permission denied')
export const deadlineExceeded = () => new ApiError(4, 'context deadline exceeded')
export const applicationNotFound = (name: string) => new ApiError(5, `applications.argoproj.io "${name}" not found`)

export function unaryErrorBody({ code, message }: ApiError): string {
  return goJson({ error: message, code, message })
}

/** The last frame of a stream, or its only one. */
export function streamErrorEnvelope({ code, message, status }: ApiError) {
  return { error: { grpc_code: code, http_code: status, message, http_status: httpStatuses[code]?.[1] ?? '' } }
}

/** The code that the gateway would have turned into this HTTP status. */
export function codeForStatus(status: number): number {
  const entry = Object.entries(httpStatuses).find(([, [known]]) => known === status)
  return entry ? Number(entry[0]) : 2
}
