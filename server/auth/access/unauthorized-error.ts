/** A credential is missing or bad; answered 401. The message is shown to the caller and holds no secret. */
export class UnauthorizedError extends Error {
  override readonly name = 'UnauthorizedError'
}
