import type { Caller } from '../access/caller.ts'
import { CredentialRefusedError } from '../access/credential-refused-error.ts'
import type { AuthSettings } from './auth-settings.ts'
import { type CredentialJudges, judgeCredentials } from './judge-credentials.ts'
import { type CredentialCarrier, readPresentedCredentials } from './presented-credentials.ts'

/**
 * `credential` refuses anonymous callers whatever REQUIRE_CREDENTIAL says. `user` never refuses them, and where a user is
 * among those whose credentials were presented, it is he who calls.
 */
type Need = 'credential' | 'user'
type IdentifyCaller = (request: CredentialCarrier, need?: Need) => Promise<Caller>

/** Gives the caller of a request, or throws a {@link CredentialRefusedError}. */
export function createIdentifyCaller(
  settings: AuthSettings,
  judges: CredentialJudges,
  nowSeconds: () => number,
): IdentifyCaller {
  return async (request, need) => {
    const rules = need === undefined ? settings : { ...settings, requireCredential: need === 'credential' }
    const judgement = await judgeCredentials(readPresentedCredentials(request), rules, nowSeconds(), judges)
    if (judgement.kind === 'refused') throw new CredentialRefusedError(judgement.reason)
    const user = need === 'user' ? judgement.beside.find((caller) => 'user' in caller) : undefined
    return user ?? judgement.caller
  }
}
