import { describe, expect, test } from 'vitest'
import { argoWatcherVariables } from '../input/argo-watcher-variables.ts'
import { chooseCredential } from './choose-credential.ts'

const choose = (variables: Record<string, string>, token = true) =>
  chooseCredential({ token }, variables, argoWatcherVariables(variables))
const headersOf = (variables: Record<string, string>) => {
  const choice = choose(variables)
  return choice.kind === 'given' ? choice.credential.headers : undefined
}

const argoWatcher = { ARGO_WATCHER_URL: 'http://old.example' }
const github = {
  GITHUB_ACTIONS: 'true',
  ACTIONS_ID_TOKEN_REQUEST_URL: 'https://runner.example/token?api-version=2.0',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'request',
}
const buildkite = { BUILDKITE: 'true', BUILDKITE_AGENT_ACCESS_TOKEN: 'agent' }
const gitlab = { GITLAB_CI: 'true', WATCHER_ID_TOKEN: 'a.b.c' }
const circleCi = { CIRCLECI: 'true', CIRCLE_OIDC_TOKEN_V2: 'c.d.e' }

describe('which credential is sent', () => {
  const toGithub = {
    kind: 'github',
    requestUrl: github.ACTIONS_ID_TOKEN_REQUEST_URL,
    requestToken: github.ACTIONS_ID_TOKEN_REQUEST_TOKEN,
  }
  const none = (why: string) => ({ kind: 'none', why })
  const given = (name: string) => ({ kind: 'given', name })
  const every = { ...github, ...buildkite, ...gitlab, ...circleCi }

  test.for([
    ['none outside of a CI', {}, none('not_set')],
    ['WATCHER_TOKEN before every ID token', { WATCHER_TOKEN: 'x', ...every }, given('WATCHER_TOKEN')],
    ['also where it is empty: the ID token', { WATCHER_TOKEN: ' ', ...gitlab }, given('WATCHER_ID_TOKEN')],
    ["argo-watcher's before every ID token", { ...argoWatcher, BEARER_TOKEN: 'x', ...every }, given('BEARER_TOKEN')],
    [
      "argo-watcher's deploy token as well",
      { ...argoWatcher, ARGO_WATCHER_DEPLOY_TOKEN: 'x', ...every },
      given('ARGO_WATCHER_DEPLOY_TOKEN'),
    ],
    ["argo-watcher's without its address: the ID token", { BEARER_TOKEN: 'x', ...github }, toGithub],
    ['GitHub Actions', github, toGithub],
    ['GitHub without the permission', { GITHUB_ACTIONS: 'true' }, none('no_github_permission')],
    ['GitHub with half of it', { ...github, ACTIONS_ID_TOKEN_REQUEST_TOKEN: '' }, none('no_github_permission')],
    ['GitLab', gitlab, given('WATCHER_ID_TOKEN')],
    ['GitLab without id_tokens', { GITLAB_CI: 'true' }, none('not_set')],
    ['Buildkite', buildkite, { kind: 'buildkite' }],
    ['Buildkite without its agent', { BUILDKITE: 'true' }, none('not_set')],
    ['the agent of Buildkite outside of a job', { BUILDKITE_AGENT_ACCESS_TOKEN: 'agent' }, none('not_set')],
    ['CircleCI', circleCi, given('CIRCLE_OIDC_TOKEN_V2')],
    ['CircleCI without a context', { CIRCLECI: 'true' }, none('not_set')],
    ['WATCHER_ID_TOKEN, which only the author sets, before the others', every, given('WATCHER_ID_TOKEN')],
  ] as const)('%s', ([, variables, choice]) => expect(choose(variables)).toMatchObject(choice))

  test.for([
    ['WATCHER_TOKEN', { WATCHER_TOKEN: 'x' }],
    ['an ID token', every],
  ] as const)('--no-token wins over %s', ([, variables]) =>
    expect(choose(variables, false)).toEqual(none('no_token_flag')),
  )
})

describe('the header', () => {
  test.for([
    ['a scoped token', { WATCHER_TOKEN: 'dwt_abc' }, { authorization: 'Bearer dwt_abc' }],
    ['a JWT', { WATCHER_TOKEN: 'a.b-c.d_e' }, { authorization: 'Bearer a.b-c.d_e' }],
    ['a static token', { WATCHER_TOKEN: 'demo' }, { 'watcher-deploy-token': 'demo' }],
    ['with the newline of a file', { WATCHER_TOKEN: ' demo\n' }, { 'watcher-deploy-token': 'demo' }],
    ['with its scheme', { WATCHER_TOKEN: 'Bearer a.b.c' }, { authorization: 'Bearer a.b.c' }],
    ["argo-watcher's", { ...argoWatcher, ARGO_WATCHER_DEPLOY_TOKEN: 'old' }, { 'watcher-deploy-token': 'old' }],
    [
      "argo-watcher's JWT",
      { ...argoWatcher, ARGO_WATCHER_DEPLOY_TOKEN: 'old', BEARER_TOKEN: 'x' },
      { authorization: 'Bearer x' },
    ],
    ['its own first', { ...argoWatcher, WATCHER_TOKEN: 'demo', BEARER_TOKEN: 'x' }, { 'watcher-deploy-token': 'demo' }],
    ['of GitLab', gitlab, { authorization: 'Bearer a.b.c' }],
    ['of CircleCI', circleCi, { authorization: 'Bearer c.d.e' }],
  ] as const)('%s', ([, variables, headers]) => expect(headersOf(variables)).toEqual(headers))

  test.for([
    ['WATCHER_TOKEN', {}],
    ['WATCHER_ID_TOKEN', {}],
    ['ACTIONS_ID_TOKEN_REQUEST_TOKEN', github],
    ['CIRCLE_OIDC_TOKEN_V2', {}],
  ] as const)('%s that no header can hold is refused without being shown', ([name, others]) => {
    const message = `${name}: must not hold blanks or control characters`
    expect(() => choose({ ...others, [name]: 'se cret' })).toThrow(new RegExp(`^${message}$`))
  })
})
