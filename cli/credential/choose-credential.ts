import type { ArgoWatcherVariables } from '../input/argo-watcher-variables.ts'
import type { Variables } from '../input/ci-defaults.ts'
import { bearer, type Credential, credentialOf, deployToken, secretOf } from './credential.ts'

/** Where the credential of a run comes from. */
export type CredentialChoice =
  /** The environment holds it, under this name. */
  | { readonly kind: 'given'; readonly name: string; readonly credential: Credential }
  /** GitHub Actions issues an ID token at this address to whoever has the request token. */
  | { readonly kind: 'github'; readonly requestUrl: string; readonly requestToken: string }
  /** The agent of Buildkite requests an ID token. */
  | { readonly kind: 'buildkite' }
  | { readonly kind: 'none'; readonly why: 'no_token_flag' | 'no_github_permission' | 'not_set' }

/**
 * Chooses by the environment alone: an explicit token, else the ID token of the CI. Pure.
 * @throws {ExitError} where a token cannot stand in a header
 */
export function chooseCredential(
  { token: isWanted }: { readonly token: boolean },
  variables: Variables,
  argoWatcher: ArgoWatcherVariables | undefined,
): CredentialChoice {
  if (!isWanted) return { kind: 'none', why: 'no_token_flag' }
  return explicitToken(variables, argoWatcher) ?? idToken(variables)
}

function explicitToken(
  variables: Variables,
  argoWatcher: ArgoWatcherVariables | undefined,
): CredentialChoice | undefined {
  return (
    given('WATCHER_TOKEN', variables.WATCHER_TOKEN, credentialOf) ??
    given('BEARER_TOKEN', argoWatcher?.bearerToken, bearer) ??
    given('ARGO_WATCHER_DEPLOY_TOKEN', argoWatcher?.deployToken, deployToken)
  )
}

/** One that was given to the job by its author comes before those that a CI gives to every job. */
function idToken(variables: Variables): CredentialChoice {
  const ofGitLab = given('WATCHER_ID_TOKEN', variables.WATCHER_ID_TOKEN, bearer)
  if (ofGitLab !== undefined) return ofGitLab
  const { ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl, BUILDKITE, BUILDKITE_AGENT_ACCESS_TOKEN: agentToken } = variables
  const requestToken = secretOf('ACTIONS_ID_TOKEN_REQUEST_TOKEN', variables.ACTIONS_ID_TOKEN_REQUEST_TOKEN)
  if (requestUrl && requestToken !== undefined) return { kind: 'github', requestUrl, requestToken }
  if (BUILDKITE === 'true' && agentToken) return { kind: 'buildkite' }
  const ofCircleCi = given('CIRCLE_OIDC_TOKEN_V2', variables.CIRCLE_OIDC_TOKEN_V2, bearer)
  if (ofCircleCi !== undefined) return ofCircleCi
  return { kind: 'none', why: variables.GITHUB_ACTIONS === 'true' ? 'no_github_permission' : 'not_set' }
}

function given(
  name: string,
  text: string | undefined,
  carry: (secret: string) => Credential,
): CredentialChoice | undefined {
  const secret = secretOf(name, text)
  return secret === undefined ? undefined : { kind: 'given', name, credential: carry(secret) }
}
