import { expect, test } from 'vitest'
import { advise } from './advise.ts'
import type { CredentialChoice } from './choose-credential.ts'

const secret = 'se-cret'
const given = (name: string): CredentialChoice => ({ kind: 'given', name, credential: { secret, headers: {} } })
const github: CredentialChoice = { kind: 'github', requestUrl: 'https://runner.example', requestToken: secret }

test.for([
  ['a given token', given('WATCHER_TOKEN'), {}, /^Check WATCHER_TOKEN, or give --no-token to send no credential\.$/],
  ['of a submission', given('WATCHER_TOKEN'), { isSubmission: true }, /--no-token .*: then nothing is committed\.$/],
  ['a given ID token', given('WATCHER_ID_TOKEN'), {}, /^Check WATCHER_ID_TOKEN, or give --no-token/],
  ['GitHub Actions', github, {}, /GitHub Actions for the audience https:\/\/w\.example .*`ci_identities`.* --no-token/],
  ['Buildkite', { kind: 'buildkite' }, {}, /Buildkite for the audience https:\/\/w\.example .* --no-token/],
  ['Buildkite that gave none', { kind: 'buildkite' }, { isSent: false }, /^No credential was sent, since Buildkite/],
  ['a job without the permission', { kind: 'none', why: 'no_github_permission' }, {}, /`permissions: id-token: write`/],
  ['no token', { kind: 'none', why: 'not_set' }, {}, /set WATCHER_TOKEN or, in GitLab CI, .* WATCHER_ID_TOKEN/],
  ['--no-token', { kind: 'none', why: 'no_token_flag' }, {}, /because of --no-token/],
] as const)('%s', ([, choice, situation, words]) => {
  const advice = advise(choice, { audience: 'https://w.example', isSent: true, isSubmission: false, ...situation })
  expect(advice).toMatch(words)
  expect(advice).not.toContain(secret)
})
