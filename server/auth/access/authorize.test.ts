import { describe, expect, test } from 'vitest'
import { createAuthorize } from './authorize.ts'
import { anonymous, type Principal } from './principal.ts'
import { isInScope, type Scope, scopeOfClaim, withCanonicalNames } from './scope.ts'

type Policy = Parameters<typeof createAuthorize>[0]
type Asked = Parameters<ReturnType<typeof createAuthorize>>

const lenient: Policy = {
  requireCredential: false,
  enforceAllowedApps: false,
  privilegedGroups: [],
  isReadingClosed: false,
  hasUsers: false,
}
const closed: Partial<Policy> = { isReadingClosed: true, hasUsers: true }
const enforced: Partial<Policy> = { enforceAllowedApps: true }
const grouped: Partial<Policy> = { privilegedGroups: ['platform', 'on-call'], hasUsers: true }

const deployToken: Principal = { kind: 'deploy_token', scope: 'all' }
const jwt = (names?: readonly string[]): Principal => ({
  kind: 'jwt',
  subject: 'ci',
  scope: scopeOfClaim(names ?? []),
  hasAppsClaim: names !== undefined,
})
const scoped = (scope: Scope = 'all'): Principal => ({ kind: 'scoped_token', id: '1', description: 'd', scope })
const user = (groups: readonly string[] = [], hasStaleGroups = false): Principal => ({
  kind: 'session',
  scope: 'all',
  user: { subject: 'ada', name: 'ada', groups, hasStaleGroups },
})

const decide = (policy: Partial<Policy>, asked: Asked) => {
  const decision = createAuthorize({ ...lenient, ...policy })(...asked)
  return decision.kind === 'allowed' ? 'allowed' : `${decision.kind}: ${decision.reason}`
}

const noCredential =
  'unauthorized: no credential was given: send the deploy token in the header Watcher-Deploy-Token or a JWT in the header Authorization'
const userWays = 'send an access token in the header Oidc-Authorization, or sign in'
const noUser = `unauthorized: credential rejected: only a user may do this: ${userWays}`
const notListed = 'unauthorized: credential rejected: allowed_apps of the JWT does not list shop'
const noList = 'unauthorized: credential rejected: allowed_apps must be a list of strings in the JWT'
const outOfScope = 'unauthorized: credential rejected: the deploy token is not for shop'
const tasksOnly = 'unauthorized: credential rejected: the deploy token may read tasks of its applications only'
const notMember = 'forbidden: only members of platform, on-call may do this'
const stale =
  'forbidden: the identity provider did not confirm your groups: sign in again, or add offline_access to IDP_SCOPES'

describe('without a credential', () => {
  test.for<[string, Partial<Policy>, Asked[1], string]>([
    ['a task is submitted', {}, 'submit', 'allowed'],
    ['no task is submitted where REQUIRE_CREDENTIAL is set', { requireCredential: true }, 'submit', noCredential],
    ['no task is cancelled', {}, 'cancel', noCredential],
    ['nothing is administered', { hasUsers: true }, 'administer', `unauthorized: no credential was given: ${userWays}`],
    ['tasks are read where reading is open', {}, 'read', 'allowed'],
    ['all is read where reading is open', {}, 'read_all', 'allowed'],
    ['no log is read, also where reading is open', {}, 'read_private', noCredential],
    ['no settings are read, also where reading is open', {}, 'read_service', noCredential],
    ['no task is read where reading is closed', closed, 'read', `${noCredential}, or sign in`],
    ['nothing is read where reading is closed', closed, 'read_all', `${noCredential}, or sign in`],
  ])('%s', ([, policy, action, expected]) => expect(decide(policy, [anonymous, action, 'shop'])).toBe(expected))
})

describe('with a credential', () => {
  test.for<[string, Partial<Policy>, Asked, string]>([
    ['the deploy token submits', enforced, [deployToken, 'submit', 'shop'], 'allowed'],
    ['the deploy token cancels', enforced, [deployToken, 'cancel', 'shop'], 'allowed'],
    ['the deploy token administers nothing', {}, [deployToken, 'administer'], noUser],
    ['the deploy token reads all', closed, [deployToken, 'read_all'], 'allowed'],
    ['a JWT submits what it lists', enforced, [jwt(['shop']), 'submit', 'shop'], 'allowed'],
    ['a JWT that lists * submits all', enforced, [jwt(['*']), 'submit', 'shop'], 'allowed'],
    ['a JWT does not submit what it does not list', enforced, [jwt(['app2']), 'submit', 'shop'], notListed],
    ['a JWT does not submit what it lists in another case', enforced, [jwt(['Shop']), 'submit', 'shop'], notListed],
    ['a JWT that lists sh* submits no shop', enforced, [jwt(['sh*']), 'submit', 'shop'], notListed],
    ['a JWT with an empty list submits nothing', enforced, [jwt([]), 'submit', 'shop'], notListed],
    ['a JWT without a list submits nothing', enforced, [jwt(), 'submit', 'shop'], noList],
    ['a JWT does not cancel what it does not list', enforced, [jwt(['app2']), 'cancel', 'shop'], notListed],
    ['a JWT may cancel before the task is known', enforced, [jwt(['app2']), 'cancel'], 'allowed'],
    ['a JWT submits all where its list is not enforced', {}, [jwt([]), 'submit', 'shop'], 'allowed'],
    ['a JWT administers nothing', enforced, [jwt(['*']), 'administer'], noUser],
    ['a JWT reads what it does not list', { ...closed, ...enforced }, [jwt([]), 'read', 'shop'], 'allowed'],
    ['a scoped token submits in its scope', {}, [scoped(['sh*']), 'submit', 'shop'], 'allowed'],
    ['a scoped token submits nothing else', {}, [scoped(['other']), 'submit', 'shop'], outOfScope],
    ['a scoped token cancels nothing else', {}, [scoped(['other']), 'cancel', 'shop'], outOfScope],
    ['a scoped token without globs submits all', {}, [scoped(), 'submit', 'shop'], 'allowed'],
    ['a scoped token administers nothing', {}, [scoped(), 'administer'], noUser],
    ['a scoped token reads everything where reading is open', {}, [scoped(['other']), 'read', 'shop'], 'allowed'],
    ['a scoped token reads its tasks', closed, [scoped(['shop']), 'read', 'shop'], 'allowed'],
    ['a scoped token reads no other task', closed, [scoped(['other']), 'read', 'shop'], outOfScope],
    [
      'a scoped token reads no other log, also where reading is open',
      {},
      [scoped([]), 'read_private', 'shop'],
      outOfScope,
    ],
    ['a scoped token reads nothing but tasks', closed, [scoped(['shop']), 'read_all'], tasksOnly],
    ['a scoped token without globs reads all', closed, [scoped(), 'read_all'], 'allowed'],
    ['a scoped token reads no settings, also where reading is open', {}, [scoped(['shop']), 'read_service'], tasksOnly],
    ['a scoped token without globs reads the settings', closed, [scoped(), 'read_service'], 'allowed'],
    ['the deploy token reads the settings', closed, [deployToken, 'read_service'], 'allowed'],
    ['any user reads the settings without privileged groups', {}, [user(), 'read_service'], 'allowed'],
    ['a member of a privileged group reads the settings', grouped, [user(['platform']), 'read_service'], 'allowed'],
    ['any other user does not read the settings', grouped, [user(), 'read_service'], notMember],
    ['any user changes something without privileged groups', {}, [user(['x']), 'administer'], 'allowed'],
    ['a user without groups submits without privileged groups', {}, [user(), 'submit', 'shop'], 'allowed'],
    ['a member of a privileged group administers', grouped, [user(['platform']), 'administer'], 'allowed'],
    ['a member of another one too', grouped, [user(['a', 'on-call']), 'cancel', 'shop'], 'allowed'],
    ['a user without groups submits nothing', grouped, [user(), 'submit', 'shop'], notMember],
    ['a group in another case is another one', grouped, [user(['Platform']), 'submit', 'shop'], notMember],
    ['a group with a slash is another one', grouped, [user(['/platform']), 'submit', 'shop'], notMember],
    ['a group with a blank is another one', grouped, [user(['platform ']), 'submit', 'shop'], notMember],
    ['a group that was not confirmed does not count', grouped, [user(['platform'], true), 'administer'], stale],
    ['a user who may not change anything reads', { ...closed, ...grouped }, [user(), 'read_all'], 'allowed'],
    ['a user who may not change anything reads logs', grouped, [user(), 'read_private', 'shop'], 'allowed'],
  ])('%s', ([, policy, asked, expected]) => expect(decide(policy, asked)).toBe(expected))

  test.for<[string, Asked, boolean]>([
    ['a JWT that lists another application is noted', [jwt(['app2']), 'submit', 'shop'], true],
    ['a JWT that lists the application is not noted', [jwt(['shop']), 'submit', 'shop'], false],
    ['a JWT without a list is not noted', [jwt(), 'submit', 'shop'], false],
  ])('where allowed_apps is not enforced, %s', ([, asked, isNoted]) => {
    const decision = createAuthorize(lenient)(...asked)
    expect(decision.kind === 'allowed' && decision.note !== undefined).toBe(isNoted)
  })
})

describe('the globs of a scoped token', () => {
  test.for<[string, string, boolean]>([
    ['shop', 'shop', true],
    ['argocd/shop', 'shop', true],
    ['argocd/*', 'shop', true],
    ['*/shop-*', 'shop-eu', true],
    ['team/*', 'shop', false],
    ['*', 'shop', true],
    ['*', 'team/shop', false],
    ['argocd/x/*', 'x/shop', false],
  ])('%s, where Argo CD runs in argocd, match %s: %s', ([glob, app, expected]) => {
    expect(isInScope(app, withCanonicalNames([glob], 'argocd'))).toBe(expected)
  })
})
