import type { Principal } from './principal.ts'

/** A credential is missing or bad; answered 401. The message is shown to the caller and holds no secret. */
export class UnauthorizedError extends Error {
  override readonly name = 'UnauthorizedError'
  /** Whom the credential stood for, where nothing is wrong with it but that its time is over. */
  readonly expired: Principal | undefined
  constructor(message: string, expired?: Principal) {
    super(message)
    this.expired = expired
  }
}

/** A user is known but may not do this; answered 403. The message is shown to the caller. */
export class ForbiddenError extends Error {
  override readonly name = 'ForbiddenError'
}

/** Whether a user is who he says cannot be asked now; answered 503, never 401. */
export class IdentityProviderUnavailableError extends Error {
  override readonly name = 'IdentityProviderUnavailableError'
  constructor(options?: ErrorOptions) {
    super('the identity provider does not answer, try again later', options)
  }
}
