import { hideSecrets } from './hide-secrets.ts'

const hidden = '<redacted>'
const secretHeader =
  /"((?:proxy-|oidc-|keycloak-)?authorization|cookie|set-cookie|[\w-]*deploy[_-]token)":"(?:[^"\\]|\\.)*"/gi
const secretParameter = /((?:deploy_token|access_token|refresh_token|client_secret|code_verifier)=)[^&\s"#\\]+/gi
const scopedToken = /\bdwt_[\w-]{43}/g
/** Whole runs of what a JWT consists of, so that none is tried again from within: it begins with `eyJ` somewhere there. */
const threeParts = /(?<![\w-])[\w-]+\.[\w-]+\.[\w-]*/g
const shortestHead = 11
const userinfo = /(\b[a-z][a-z0-9+.-]{0,15}:\/\/)[^/\s"@]+@/gi
const invisible = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Makes one line of the log safe: known secrets in plain, JSON, base64 and URL form, credential headers, the deploy token
 * in a URL, JWTs, deploy tokens that this service issued, user and password of an address, and characters that would
 * write on a terminal.
 */
export function createRedactor(secrets: () => readonly string[]): (line: string) => string {
  return (line) =>
    hideSecrets(line, secrets())
      .replace(secretHeader, `"$1":"${hidden}"`)
      .replace(secretParameter, `$1${hidden}`)
      .replace(scopedToken, hidden)
      .replace(threeParts, hideJwt)
      .replace(userinfo, `$1${hidden}@`)
      .replace(invisible, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function hideJwt(parts: string): string {
  const start = parts.indexOf('eyJ')
  return start >= 0 && parts.indexOf('.') - start >= shortestHead ? `${parts.slice(0, start)}${hidden}` : parts
}

/** A deploy token, and what the identity provider sends a browser back with. */
const secretParameters = ['deploy_token', 'code', 'state']

/** Hides the secrets in the query of a URL, also where their names are percent-encoded. */
export function redactUrl(url: string): string {
  const query = url.indexOf('?')
  if (query < 0) return url
  const pairs = url
    .slice(query + 1)
    .split('&')
    .map(redactPair)
  return `${url.slice(0, query)}?${pairs.join('&')}`
}

function redactPair(pair: string): string {
  const parameters = new URLSearchParams(pair)
  const name = secretParameters.find((secret) => parameters.has(secret))
  return name === undefined ? pair : `${name}=${hidden}`
}
