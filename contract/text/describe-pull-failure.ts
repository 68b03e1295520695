import { innermostErrors, plainWords, withoutUrls } from './plain-words.ts'

/** Why a registry did not deliver an image; `unknown`: the message does not say. */
const pullFailures = {
  rate_limit: /toomanyrequests|rate limit|\b429\b/i,
  hidden: /repository does not exist or may require/i,
  denied: /unauthorized|authentication required|access denied|\bdenied\b|forbidden|no basic auth|\b40[13]\b/i,
  certificate: /x509|certificate|HTTP response to HTTPS client/i,
  no_such_host: /no such host|server misbehaving/i,
  timeout: /timeout|timed out|deadline exceeded/i,
  no_connection: /connection refused|connection reset|no route to host|network is unreachable/i,
  platform: /no match for platform|exec format|does not match the specified platform/i,
  disk: /no space left on device/i,
  not_found: /not found|manifest unknown|name unknown|does not exist/i,
} as const satisfies Record<string, RegExp>
type PullFailure = keyof typeof pullFailures

const words: Readonly<Record<PullFailure, string>> = {
  rate_limit: 'rate limit of the registry reached',
  hidden: 'not found, or access denied',
  denied: 'access denied',
  certificate: 'certificate of the registry is not trusted',
  no_such_host: 'no such host',
  timeout: 'the registry times out',
  no_connection: 'no connection to the registry',
  platform: 'it does not support the platform of the node',
  disk: 'no space left on the node',
  not_found: 'not found',
}

/** The back-off between two tries says nothing of the last one. */
const sayNothing = /^(?:back-off pulling image "[^"]*"|ErrImagePull|ImagePullBackOff)?$/i

/** The kind of failure that a message of the kubelet tells. */
export function pullFailureOf(message: string): PullFailure | undefined {
  const image = pulledImage(message)
  const text = withoutUrls(image === undefined ? message : message.replaceAll(image, ''))
  return (Object.keys(pullFailures) as PullFailure[]).find((kind) => pullFailures[kind].test(text))
}

export const pulledImage = (message: string): string | undefined => /\bimage "([^"]+)"/.exec(message)?.[1]

/** Why an image was not pulled, in a few words; '' where the message does not say. */
export function describePullFailure(message: string): string {
  const kind = pullFailureOf(message)
  if (kind !== undefined) return words[kind]
  const text = plainWords(message)
  return sayNothing.test(text) ? '' : innermostErrors(text.replace(/^Failed to pull image "[^"]*": /, ''), 60)
}
