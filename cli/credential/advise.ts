import type { CredentialChoice } from './choose-credential.ts'

type Situation = {
  /** Of an ID token that was requested. */
  readonly audience: string
  /** Whether the refused request carried a credential. */
  readonly isSent: boolean
  /** Without a credential nothing of it is committed. */
  readonly isSubmission: boolean
}

/** What to do after the service accepted neither the credential nor the lack of one. A line without secrets. */
export function advise(choice: CredentialChoice, { audience, isSent, isSubmission }: Situation): string {
  const without = `or give --no-token to send no credential${isSubmission ? ': then nothing is committed' : ''}.`
  const ofIdToken = (ci: string) =>
    `An ID token of ${ci} for the audience ${audience} was sent. Check \`ci_identities\` of the service, ${without}`
  switch (choice.kind) {
    case 'given':
      return `Check ${choice.name}, ${without}`
    case 'github':
      return ofIdToken('GitHub Actions')
    case 'buildkite':
      return isSent ? ofIdToken('Buildkite') : 'No credential was sent, since Buildkite gave no ID token.'
    case 'none':
      return ofNone[choice.why]
  }
}

const ofNone = {
  no_token_flag: 'No credential was sent, because of --no-token.',
  no_github_permission: 'No credential was sent: the job needs `permissions: id-token: write`, or set WATCHER_TOKEN.',
  not_set: 'No credential was sent: set WATCHER_TOKEN or, in GitLab CI, the ID token WATCHER_ID_TOKEN.',
}
