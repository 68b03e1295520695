export type Variables = Readonly<Record<string, string | undefined>>

/** The commit that is deployed; times are Unix seconds. */
export type Source = {
  readonly repository?: string | undefined
  readonly sha?: string | undefined
  readonly ref?: string | undefined
  readonly url?: string | undefined
  readonly committed_at?: number | undefined
}
export type CiDefaults = {
  readonly author?: string | undefined
  readonly project?: string | undefined
  readonly source: Source
}
export type CiName = keyof typeof readers

/** What each CI calls them in its jobs. The documents of each list them as predefined variables. */
const readers = {
  github: (of) => ({
    author: of('GITHUB_ACTOR'),
    project: of('GITHUB_REPOSITORY'),
    source: {
      repository: of('GITHUB_REPOSITORY'),
      sha: of('GITHUB_SHA'),
      ref: of('GITHUB_REF'),
      url: joined(of('GITHUB_SERVER_URL'), '/', of('GITHUB_REPOSITORY'), '/commit/', of('GITHUB_SHA')),
    },
  }),
  gitlab: (of) => ({
    author: of('GITLAB_USER_LOGIN'),
    project: of('CI_PROJECT_PATH'),
    source: {
      repository: of('CI_PROJECT_PATH'),
      sha: of('CI_COMMIT_SHA'),
      ref: of('CI_COMMIT_REF_NAME'),
      url: joined(of('CI_PROJECT_URL'), '/-/commit/', of('CI_COMMIT_SHA')),
      committed_at: secondsOf(of('CI_COMMIT_TIMESTAMP')),
    },
  }),
  jenkins: (of) => ({
    author: of('BUILD_USER_ID') ?? of('CHANGE_AUTHOR'),
    project: of('JOB_NAME'),
    source: {
      repository: pathOf(of('GIT_URL') ?? of('GIT_URL_1')),
      sha: of('GIT_COMMIT'),
      ref: of('TAG_NAME') ?? of('BRANCH_NAME') ?? of('GIT_BRANCH'),
    },
  }),
  circleci: (of) => ({
    author: of('CIRCLE_USERNAME'),
    project: joined(of('CIRCLE_PROJECT_USERNAME'), '/', of('CIRCLE_PROJECT_REPONAME')),
    source: {
      repository: joined(of('CIRCLE_PROJECT_USERNAME'), '/', of('CIRCLE_PROJECT_REPONAME')),
      sha: of('CIRCLE_SHA1'),
      ref: of('CIRCLE_TAG') ?? of('CIRCLE_BRANCH'),
    },
  }),
  buildkite: (of) => ({
    author: of('BUILDKITE_BUILD_CREATOR') ?? of('BUILDKITE_BUILD_AUTHOR'),
    project: joined(of('BUILDKITE_ORGANIZATION_SLUG'), '/', of('BUILDKITE_PIPELINE_SLUG')),
    source: {
      repository: pathOf(of('BUILDKITE_REPO')),
      sha: of('BUILDKITE_COMMIT'),
      ref: of('BUILDKITE_TAG') ?? of('BUILDKITE_BRANCH'),
    },
  }),
  azure: (of) => ({
    author: of('BUILD_REQUESTEDFOR'),
    project: joined(of('SYSTEM_TEAMPROJECT'), '/', of('BUILD_DEFINITIONNAME')),
    source: {
      repository: of('BUILD_REPOSITORY_NAME'),
      sha: of('BUILD_SOURCEVERSION'),
      ref: of('BUILD_SOURCEBRANCH'),
    },
  }),
  bitbucket: (of) => ({
    author: of('BITBUCKET_STEP_TRIGGERER_UUID'),
    project: of('BITBUCKET_REPO_FULL_NAME'),
    source: {
      repository: of('BITBUCKET_REPO_FULL_NAME'),
      sha: of('BITBUCKET_COMMIT'),
      ref: of('BITBUCKET_TAG') ?? of('BITBUCKET_BRANCH'),
      url: joined(of('BITBUCKET_GIT_HTTP_ORIGIN'), '/commits/', of('BITBUCKET_COMMIT')),
    },
  }),
} satisfies Record<string, (of: (name: string) => string | undefined) => CiDefaults>

const marks: Readonly<Record<CiName, string>> = {
  github: 'GITHUB_ACTIONS',
  gitlab: 'GITLAB_CI',
  jenkins: 'JENKINS_URL',
  circleci: 'CIRCLECI',
  buildkite: 'BUILDKITE',
  azure: 'TF_BUILD',
  bitbucket: 'BITBUCKET_BUILD_NUMBER',
}

export const ciOf = (variables: Variables): CiName | undefined =>
  (Object.keys(marks) as CiName[]).find((name) => variables[marks[name]])

/** Author, project and commit of the job that runs; nothing outside a known CI. */
export function ciDefaults(variables: Variables): CiDefaults {
  const ci = ciOf(variables)
  return ci === undefined ? { source: {} } : readers[ci]((name) => variables[name] || undefined)
}

/** Undefined where a part is missing. */
const joined = (...parts: (string | undefined)[]): string | undefined =>
  parts.includes(undefined) ? undefined : parts.join('')

/** `team/shop` of `git@git.example:team/shop.git` and of `https://user@git.example/team/shop.git`. */
const pathOf = (url: string | undefined): string | undefined =>
  url?.replace(/^(?:\w+:\/\/[^/]*\/|[^/]*?:)/, '').replace(/\.git$/, '')

const secondsOf = (time: string | undefined): number | undefined => {
  const ms = Date.parse(time ?? '')
  return Number.isNaN(ms) ? undefined : ms / 1_000
}
