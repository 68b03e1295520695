import { describe, expect, test } from 'vitest'
import { type Reported, whoseCommit } from './whose-repository.ts'

const sha = 'a'.repeat(40)
const source = { repository: 'acme/shop', sha }
const ci = (change: object = {}, server = 'https://github.com'): Reported['submitter'] => ({
  kind: 'ci',
  server,
  source: { ...source, ...change },
})
const other = { kind: 'other' } as const
const reported = (change: Partial<Reported> = {}): Reported => ({
  source,
  environment: 'production',
  submitter: ci(),
  ...change,
})
const gitHub = { server: 'https://github.com', hasSubgroups: false, repositories: ['acme/shop', 'Acme/lib-*'] }
const gitLab = { server: 'https://gitlab.example:8443', hasSubgroups: true, repositories: ['team/sub/*'] }

test.for<[string, Partial<Reported>]>([
  ['a job of a CI, its own commit', {}],
  ['a job, by the address of its repository', { source: { repository: 'https://github.com/acme/shop.git', sha } }],
  ['a job, by the SSH address of its repository', { source: { repository: 'git@github.com:acme/shop.git', sha } }],
  ['a job, in another case', { source: { repository: 'Acme/Shop', sha } }],
  ['another credential, a repository that is listed', { submitter: other }],
  ['another credential, one of a glob', { submitter: other, source: { repository: 'acme/lib-a', sha } }],
])('%s: is reported', ([, change]) => {
  expect(whoseCommit(reported(change), gitHub)).toMatchObject({ sha, environment: 'production' })
})

const notItsOwn = 'source is not the commit of the token of the CI'
const notListed = 'repositories of the target does not list source.repository'
const elsewhere = 'source.repository is not on this host'
test.for<[string, Partial<Reported>, string]>([
  ['without a credential', { submitter: undefined }, 'the task was submitted without a credential'],
  ['without a source', { source: undefined }, 'the task names no source'],
  ['without an environment', { environment: undefined }, 'the task has no environment'],
  ['a job, another repository', { source: { repository: 'acme/web', sha } }, notItsOwn],
  ['a job, a repository that is listed', { source: { repository: 'acme/lib-a', sha } }, notItsOwn],
  ['a job, another commit', { source: { ...source, sha: 'b'.repeat(40) } }, notItsOwn],
  ['a job of another host with that path', { submitter: ci({}, 'https://gitlab.com') }, notItsOwn],
  ['a job whose token names no commit', { submitter: { kind: 'ci', server: 'https://github.com' } }, notItsOwn],
  ['a job whose token names another host', { submitter: ci({ repository: 'https://x.example/acme/shop' }) }, notItsOwn],
  ['another credential, not listed', { submitter: other, source: { repository: 'acme/web', sha } }, notListed],
  ['a glob ends at a slash', { submitter: other, source: { repository: 'evil/acme/lib-a', sha } }, elsewhere],
  ['another host', { source: { repository: 'https://evil.example/acme/shop', sha } }, elsewhere],
  ['a host that begins alike', { source: { repository: 'https://github.com.evil.example/acme/shop', sha } }, elsewhere],
  ['a path that leads elsewhere', { source: { repository: 'acme/..', sha } }, elsewhere],
  ['a path with a query', { source: { repository: 'acme/shop?x=1', sha } }, elsewhere],
  ['a name alone', { source: { repository: 'shop', sha } }, elsewhere],
  ['half of a commit', { source: { ...source, sha: 'abc1234' } }, 'source.sha is not the whole id of a commit'],
  ['a branch as a commit', { source: { ...source, sha: 'main' } }, 'source.sha is not the whole id of a commit'],
])('%s: is not reported', ([, change, reason]) => {
  expect(whoseCommit(reported(change), gitHub)).toBe(reason)
})

describe('a host with subgroups', () => {
  const inGroup = { repository: 'team/sub/shop', sha }
  test('has repositories in them', () => {
    expect(whoseCommit(reported({ source: inGroup, submitter: other }), gitLab)).toMatchObject({
      repository: 'team/sub/shop',
    })
    const address = { ...inGroup, repository: 'https://gitlab.example:8443/team/sub/shop.git' }
    expect(whoseCommit(reported({ source: address, submitter: other }), gitLab)).toMatchObject({
      repository: 'team/sub/shop',
    })
  })

  test.for<[string, object, object, object]>([
    ['the body', { ref: 'refs/heads/main' }, { ref: 'dev' }, { ref: 'main', isTag: false }],
    ['a tag of the body', { ref: 'refs/heads/main', tag: 'v1' }, {}, { ref: 'v1', isTag: true }],
    ['a tag that the body names as a ref', { ref: 'refs/tags/v1' }, {}, { ref: 'v1', isTag: true }],
    ['the token', {}, { ref: 'dev' }, { ref: 'dev', isTag: false }],
    ['a tag of the token', {}, { ref: 'v2', tag: 'v2' }, { ref: 'v2', isTag: true }],
    ['none', {}, {}, { ref: undefined, isTag: false }],
  ])('the ref is that of %s', ([, body, claim, expected]) => {
    const submitter = ci({ ...inGroup, ...claim }, gitLab.server)
    expect(whoseCommit(reported({ source: { ...inGroup, ...body }, submitter }), gitLab)).toMatchObject(expected)
  })
})
