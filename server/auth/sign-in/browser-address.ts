import { HttpError } from '../../http/request-errors.ts'
import { isLoopback } from '../../settings/address-text.ts'

/** Where people reach the service, as far as a request tells. `host` may hold a port. */
export type AskedAddress = { readonly protocol: string; readonly host: string }

/**
 * The address that links and cookies are made for, without a slash at its end.
 * @throws {HttpError} for a host that no browser can have asked for
 */
export function baseUrlOf({ protocol, host }: AskedAddress, publicUrl: string | undefined): string {
  const asked = publicUrl ?? `${protocol}://${host}`
  if (!URL.canParse(asked)) throw new HttpError(400, 'header Host is invalid')
  return asked
}

export const isSecure = (baseUrl: string) => baseUrl.startsWith('https:')

/** Plain http is good enough for a browser on the same machine. */
export const isOnThisMachine = (baseUrl: string) => isLoopback(URL.parse(baseUrl)?.hostname ?? '')
