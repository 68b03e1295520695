import { UnauthorizedError } from '../access/auth-errors.ts'
import type { Principal } from '../access/principal.ts'
import type { AuthSettings } from './auth-settings.ts'
import { type Authenticators, authenticate } from './authenticate.ts'
import { type CredentialCarrier, readPresentedCredentials } from './presented-credentials.ts'

/**
 * `credential` refuses anonymous callers whatever REQUIRE_CREDENTIAL says. `user` never refuses them, and where a user is
 * among those whose credentials were presented, it is he who calls.
 */
type Need = 'credential' | 'user'
type IdentifyCaller = (request: CredentialCarrier, need?: Need) => Promise<Principal>

/** Gives the caller of a request, or throws a {@link UnauthorizedError}. */
export function createIdentifyCaller(
  settings: AuthSettings,
  judges: Authenticators,
  nowSeconds: () => number,
): IdentifyCaller {
  return async (request, need) => {
    const rules = need === undefined ? settings : { ...settings, requireCredential: need === 'credential' }
    const judgement = await authenticate(readPresentedCredentials(request), rules, nowSeconds(), judges)
    if (judgement.kind === 'refused') throw new UnauthorizedError(judgement.reason)
    const user = need === 'user' ? judgement.beside.find((caller) => 'user' in caller) : undefined
    return user ?? judgement.caller
  }
}
