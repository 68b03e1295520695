import { ApiError } from './api-error.ts'

const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 }

/** `Grpc-Timeout: 20S` in milliseconds; `undefined` without the header. */
export function grpcTimeoutMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const [, amount = '', unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? []
  const factor = units[unit]
  if (amount === '' || factor === undefined) throw new ApiError(3, `invalid grpc-timeout: ${header}`)
  return Number(amount) * factor
}
