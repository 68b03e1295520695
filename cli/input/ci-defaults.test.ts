import { expect, test } from 'vitest'
import { ciDefaults, ciOf } from './ci-defaults.ts'

test.for([
  [
    'github',
    {
      GITHUB_ACTIONS: 'true',
      GITHUB_ACTOR: 'ada',
      GITHUB_REPOSITORY: 'team/shop',
      GITHUB_SHA: 'abc',
      GITHUB_REF: 'refs/heads/main',
      GITHUB_SERVER_URL: 'https://github.com',
    },
    {
      author: 'ada',
      project: 'team/shop',
      source: {
        repository: 'team/shop',
        sha: 'abc',
        ref: 'refs/heads/main',
        url: 'https://github.com/team/shop/commit/abc',
      },
    },
  ],
  [
    'gitlab',
    {
      GITLAB_CI: 'true',
      GITLAB_USER_LOGIN: 'ada',
      CI_PROJECT_PATH: 'team/shop',
      CI_COMMIT_SHA: 'abc',
      CI_COMMIT_REF_NAME: 'main',
      CI_PROJECT_URL: 'https://gitlab.example/team/shop',
      CI_COMMIT_TIMESTAMP: '2026-11-28T12:00:00+01:00',
    },
    {
      author: 'ada',
      project: 'team/shop',
      source: {
        repository: 'team/shop',
        sha: 'abc',
        ref: 'main',
        url: 'https://gitlab.example/team/shop/-/commit/abc',
        committed_at: 1_795_863_600,
      },
    },
  ],
  [
    'jenkins',
    {
      JENKINS_URL: 'https://ci.example/',
      JOB_NAME: 'shop/main',
      GIT_URL: 'git@git.example:team/shop.git',
      GIT_COMMIT: 'abc',
      BRANCH_NAME: 'main',
    },
    { project: 'shop/main', source: { repository: 'team/shop', sha: 'abc', ref: 'main' } },
  ],
  [
    'circleci',
    {
      CIRCLECI: 'true',
      CIRCLE_USERNAME: 'ada',
      CIRCLE_PROJECT_USERNAME: 'team',
      CIRCLE_PROJECT_REPONAME: 'shop',
      CIRCLE_SHA1: 'abc',
      CIRCLE_TAG: 'v1',
    },
    { author: 'ada', project: 'team/shop', source: { repository: 'team/shop', sha: 'abc', ref: 'v1' } },
  ],
  [
    'buildkite',
    {
      BUILDKITE: 'true',
      BUILDKITE_BUILD_CREATOR: 'Ada',
      BUILDKITE_ORGANIZATION_SLUG: 'team',
      BUILDKITE_PIPELINE_SLUG: 'shop',
      BUILDKITE_REPO: 'https://user@git.example/team/shop.git',
      BUILDKITE_COMMIT: 'abc',
      BUILDKITE_BRANCH: 'main',
    },
    { author: 'Ada', project: 'team/shop', source: { repository: 'team/shop', sha: 'abc', ref: 'main' } },
  ],
  [
    'azure',
    {
      TF_BUILD: 'True',
      BUILD_REQUESTEDFOR: 'Ada',
      SYSTEM_TEAMPROJECT: 'team',
      BUILD_DEFINITIONNAME: 'shop',
      BUILD_REPOSITORY_NAME: 'shop',
      BUILD_SOURCEVERSION: 'abc',
      BUILD_SOURCEBRANCH: 'refs/heads/main',
    },
    { author: 'Ada', project: 'team/shop', source: { repository: 'shop', sha: 'abc', ref: 'refs/heads/main' } },
  ],
  [
    'bitbucket',
    {
      BITBUCKET_BUILD_NUMBER: '1',
      BITBUCKET_REPO_FULL_NAME: 'team/shop',
      BITBUCKET_COMMIT: 'abc',
      BITBUCKET_BRANCH: 'main',
      BITBUCKET_GIT_HTTP_ORIGIN: 'https://bitbucket.org/team/shop',
    },
    {
      project: 'team/shop',
      source: { repository: 'team/shop', sha: 'abc', ref: 'main', url: 'https://bitbucket.org/team/shop/commits/abc' },
    },
  ],
  [undefined, { USER: 'ada' }, { source: {} }],
] as const)('%s', ([name, variables, defaults]) => {
  expect(ciOf(variables)).toBe(name)
  expect(ciDefaults(variables)).toEqual(defaults)
})

test('a variable that the job leaves out is absent', () => {
  expect(ciDefaults({ GITHUB_ACTIONS: 'true', GITHUB_ACTOR: '' }).source.url).toBeUndefined()
})
