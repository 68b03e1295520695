import type { Template } from '../../../gotemplate/template.ts'

/** What the write-back reads of the service's settings. The name of the environment variable stands beside each. */
export type WriteBackSettings = {
  /** SSH_KEY_PATH */
  readonly sshKeyPath: string | undefined
  /** SSH_KEY_PASS, as it is now */
  readonly sshKeyPass: (() => string) | undefined
  /** SSH_SIGNING_KEY_PATH; without it commits are not signed */
  readonly signingKeyPath: string | undefined
  /** SSH_SIGNING_KEY_PASS, as it is now */
  readonly signingKeyPass: (() => string) | undefined
  /** SSH_KNOWN_HOSTS: a file, or several in a colon list; hosts that they do not name are refused */
  readonly knownHostsPath: string | undefined
  /** What stands in them now; nothing where they cannot be read */
  readonly knownHosts: () => string
  /** SSH_COMMIT_USER, SSH_COMMIT_MAIL */
  readonly commitAuthor: { readonly name: string; readonly email: string }
  /** GIT_OP_TIMEOUT, for each git command */
  readonly gitOpTimeoutMs: number
  /** REPO_CACHE_PATH */
  readonly repoCachePath: string
  /** REPO_CACHE_LIMIT */
  readonly repoCacheLimitBytes: number
  /** GIT_CREDENTIALS, as it is now: user and token by lower-case host, with `:port` where the address names one */
  readonly gitCredentials: () => ReadonlyMap<string, { readonly user: string; readonly password: string }>
  /** Of the GitHub App: the host whose repositories it may have tokens for, with `:port` where its address names one */
  readonly appHost: string | undefined
  /** GIT_CA_FILE */
  readonly gitCaFile: string | undefined
  /** WRITE_BACK_ALLOWED_REPOS: hosts, owners or repositories; empty: all */
  readonly allowedRepos: readonly string[]
  /** OVERRIDE_FILE_PREFIX */
  readonly overrideFilePrefix: string
  /** ANNOTATION_PREFIXES, with their slash; the first that has an annotation wins */
  readonly annotationPrefixes: readonly string[]
  /** The namespace whose applications need no namespace in the name of their override file */
  readonly controlPlaneNamespace: string
  /** COMMIT_MESSAGE_FORMAT; undefined: the default message */
  readonly commitMessageFormat: Template | undefined
  /** COMMIT_TRAILER */
  readonly commitTrailer: boolean
}

/** What must not reach a log or a reply, as it is now. */
export function writeBackSecrets({ sshKeyPass, signingKeyPass, gitCredentials }: WriteBackSettings): readonly string[] {
  const tokens = [...gitCredentials().values()].map(({ password }) => password)
  return [sshKeyPass?.() ?? '', signingKeyPass?.() ?? '', ...tokens]
}
