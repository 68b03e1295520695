import type { AuthSettings } from './auth-settings.ts'
import type { Caller } from './caller.ts'
import { CredentialRefusedError } from './credential-refused-error.ts'
import { type CredentialJudges, judgeCredentials } from './judge-credentials.ts'
import { type CredentialCarrier, readPresentedCredentials } from './presented-credentials.ts'

/** `need: 'credential'` refuses anonymous callers whatever REQUIRE_CREDENTIAL says. */
type IdentifyCaller = (request: CredentialCarrier, need?: 'credential') => Promise<Caller>

/** Gives the caller of a request, or throws a {@link CredentialRefusedError}. */
export function createIdentifyCaller(
  settings: AuthSettings,
  judges: CredentialJudges,
  nowSeconds: () => number,
): IdentifyCaller {
  return async (request, need) => {
    const rules = need === 'credential' ? { ...settings, requireCredential: true } : settings
    const judgement = await judgeCredentials(readPresentedCredentials(request), rules, nowSeconds(), judges)
    if (judgement.kind === 'refused') throw new CredentialRefusedError(judgement.reason)
    return judgement.caller
  }
}
