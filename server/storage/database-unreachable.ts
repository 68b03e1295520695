/** Error codes of Node when no server answers. */
const networkCodes = /^(?:ECONN(?:REFUSED|RESET|ABORTED)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|EHOSTUNREACH|ENETUNREACH)$/

/** Of a certificate that is not trusted: its authority may be changing just now, and DB_CA_FILE is reread. */
const certificateCodes = /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED|ERR_TLS_CERT_|SELF_SIGNED_CERT|UNABLE_TO_(?:GET|VERIFY)_)/

/**
 * SQLSTATEs of a server that is starting, stopping, full, or a read-only replica: connection, resources, operator, 25006;
 * of a transaction that it has ended because nothing came, 25P03; and of a lock that another session held, 55P03.
 */
const serverCodes = /^(?:08|53|57P0)[0-9A-Z]+$|^(?:25006|25P03|55P03)$/

/** The driver gives these no code. */
const driverTexts =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/

/** Whether a query failed because the database cannot be reached now, so that trying again later is the right advice. */
export function isDatabaseUnreachable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnreachable)
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    [networkCodes, certificateCodes, serverCodes].some((codes) => codes.test(code)) || driverTexts.test(error.message)
  )
}
