import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../config/parse-config.ts'
import type { CiRule } from './ci-rule.ts'
import { judgeClaims } from './judge-claims.ts'
import type { Claims } from './match-rule.ts'

/** As the file has it, so that what a row allows is what the service would read. */
function ruleOf(match: object, issuer = 'https://ci.example'): CiRule {
  const text = JSON.stringify({ ci_identities: [{ name: 'shop', issuer, match, apps: ['shop'] }] })
  const parsed = parseConfig(text, 'https://watcher.example')
  if ('issues' in parsed) throw new Error(parsed.issues.join('; '))
  const [rule] = parsed.config.ciRules
  if (!rule) throw new Error('no rule')
  return rule
}

const reasonOf = (claims: Claims, ...rules: readonly CiRule[]) => {
  const judgement = judgeClaims(claims, rules)
  return judgement.kind === 'allowed' ? 'allowed' : judgement.reason
}

type Row = readonly [name: string, match: object, claims: Claims, expected: string]

/** What GitHub's documentation shows of an ID token of a push. */
const github = {
  iss: 'https://token.actions.githubusercontent.com',
  sub: 'repo:shop/web:ref:refs/heads/main',
  repository: 'shop/web',
  repository_id: '456789',
  repository_owner: 'shop',
  repository_owner_id: '123',
  ref: 'refs/heads/main',
  ref_type: 'branch',
  sha: 'a'.repeat(40),
  event_name: 'push',
  job_workflow_ref: 'shop/web/.github/workflows/deploy.yml@refs/heads/main',
  workflow_ref: 'shop/web/.github/workflows/deploy.yml@refs/heads/main',
  runner_environment: 'github-hosted',
  run_id: '42',
  run_attempt: '1',
}
const web = { repository_id: '456789' }
const main = { ...web, ref: 'refs/heads/main' }
const change = (claims: Claims): Claims => ({ ...github, ...claims })
const without = (claims: Claims, ...names: readonly string[]): Claims =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)))

const githubRows: readonly Row[] = [
  ['the repository alone', web, github, 'allowed'],
  ['repository and branch', main, github, 'allowed'],
  ['the owner alone', { repository_owner_id: '123' }, github, 'allowed'],
  ['owner and repository', { ...web, repository_owner_id: '123' }, github, 'allowed'],
  [
    'another branch',
    main,
    change({ ref: 'refs/heads/dev' }),
    'rule "shop": ref is refs/heads/dev, must be refs/heads/main',
  ],
  [
    'a tag called main',
    main,
    change({ ref: 'refs/tags/main', ref_type: 'tag' }),
    'rule "shop": ref is refs/tags/main, must be refs/heads/main',
  ],
  [
    'a branch that begins as main',
    main,
    change({ ref: 'refs/heads/main2' }),
    'rule "shop": ref is refs/heads/main2, must be refs/heads/main',
  ],
  [
    'a branch below main',
    main,
    change({ ref: 'refs/heads/main/x' }),
    'rule "shop": ref is refs/heads/main/x, must be refs/heads/main',
  ],
  [
    'main in capitals',
    main,
    change({ ref: 'refs/heads/MAIN' }),
    'rule "shop": ref is refs/heads/MAIN, must be refs/heads/main',
  ],
  [
    'main with a blank',
    main,
    change({ ref: 'refs/heads/main ' }),
    'rule "shop": ref is refs/heads/main , must be refs/heads/main',
  ],
  ['main without its prefix', main, change({ ref: 'main' }), 'rule "shop": ref is main, must be refs/heads/main'],
  ['no ref', main, without(github, 'ref'), 'rule "shop": ref is missing, must be refs/heads/main'],
  [
    'a ref that is a list',
    main,
    change({ ref: ['refs/heads/main'] }),
    'rule "shop": ref is missing, must be refs/heads/main',
  ],
  ['a ref that is null', main, change({ ref: null }), 'rule "shop": ref is missing, must be refs/heads/main'],
  ['an empty ref', main, change({ ref: '' }), 'rule "shop": ref is , must be refs/heads/main'],
  [
    'a branch with / for a branch with /',
    { ...web, ref: 'refs/heads/release/2' },
    change({ ref: 'refs/heads/release/2' }),
    'allowed',
  ],
  [
    'a branch with / for another',
    { ...web, ref: 'refs/heads/release/2' },
    change({ ref: 'refs/heads/release/3' }),
    'rule "shop": ref is refs/heads/release/3, must be refs/heads/release/2',
  ],
  ['any branch', { ...web, ref: 'refs/heads/*' }, github, 'allowed'],
  [
    'any branch, of a branch with /',
    { ...web, ref: 'refs/heads/*' },
    change({ ref: 'refs/heads/a/b' }),
    'rule "shop": ref is refs/heads/a/b, must be refs/heads/*',
  ],
  [
    'any branch, of a tag',
    { ...web, ref: 'refs/heads/*' },
    change({ ref: 'refs/tags/v1' }),
    'rule "shop": ref is refs/tags/v1, must be refs/heads/*',
  ],
  ['any branch, of none', { ...web, ref: 'refs/heads/*' }, change({ ref: 'refs/heads/' }), 'allowed'],
  ['any release branch', { ...web, ref: 'refs/heads/release/*' }, change({ ref: 'refs/heads/release/2' }), 'allowed'],
  [
    'any release branch, of main',
    { ...web, ref: 'refs/heads/release/*' },
    github,
    'rule "shop": ref is refs/heads/main, must be refs/heads/release/*',
  ],
  ['any tag of a version', { ...web, ref: 'refs/tags/v*' }, change({ ref: 'refs/tags/v1.2' }), 'allowed'],
  [
    'any tag of a version, of another',
    { ...web, ref: 'refs/tags/v*' },
    change({ ref: 'refs/tags/x1' }),
    'rule "shop": ref is refs/tags/x1, must be refs/tags/v*',
  ],
  ['anything, of what has a /', { ...web, ref: '*' }, github, 'rule "shop": ref is refs/heads/main, must be *'],
  ['anything, of a word', { ...web, runner_environment: '*' }, github, 'allowed'],
  [
    'anything, of what is missing',
    { ...web, environment: '*' },
    github,
    'rule "shop": environment is missing, must be *',
  ],
  [
    'one of two refs',
    { ...web, ref: ['refs/heads/main', 'refs/heads/next'] },
    change({ ref: 'refs/heads/next' }),
    'allowed',
  ],
  [
    'none of two refs',
    { ...web, ref: ['refs/heads/main', 'refs/heads/next'] },
    change({ ref: 'refs/heads/x' }),
    'rule "shop": ref is refs/heads/x, must be refs/heads/main or refs/heads/next',
  ],
  [
    'one of an exact value and a pattern',
    { ...web, ref: ['refs/heads/main', 'refs/tags/v*'] },
    change({ ref: 'refs/tags/v3' }),
    'allowed',
  ],
  [
    'a fork',
    main,
    change({ repository_id: '999', repository: 'mallory/web', repository_owner_id: '666' }),
    'no rule for repository_id 999 (mallory/web)',
  ],
  [
    'a fork with the name of the upstream',
    main,
    change({ repository_id: '999' }),
    'no rule for repository_id 999 (shop/web)',
  ],
  [
    'a fork of an owner who is allowed',
    { repository_owner_id: '123' },
    change({ repository_owner_id: '666', repository_id: '999', repository: 'mallory/web' }),
    'no rule for repository_id 999 (mallory/web)',
  ],
  [
    'a pull request',
    main,
    change({ event_name: 'pull_request', ref: 'refs/pull/7/merge' }),
    'rule "shop": ref is refs/pull/7/merge, must be refs/heads/main',
  ],
  [
    'a pull request without a rule for ref',
    web,
    change({ event_name: 'pull_request', ref: 'refs/pull/7/merge' }),
    'rule "shop": event_name is pull_request, which the rule has to name',
  ],
  [
    'a pull_request_target, which has the ref of its base',
    main,
    change({ event_name: 'pull_request_target' }),
    'rule "shop": event_name is pull_request_target, which the rule has to name',
  ],
  [
    'a pull_request_target of the owner',
    { repository_owner_id: '123' },
    change({ event_name: 'pull_request_target' }),
    'rule "shop": event_name is pull_request_target, which the rule has to name',
  ],
  [
    'a pull request that the rule names',
    { ...web, event_name: 'pull_request' },
    change({ event_name: 'pull_request' }),
    'allowed',
  ],
  [
    'a pull_request_target that the rule names',
    { ...web, event_name: ['push', 'pull_request_target'] },
    change({ event_name: 'pull_request_target' }),
    'allowed',
  ],
  [
    'a pull request that another event names',
    { ...web, event_name: 'pull_request_target' },
    change({ event_name: 'pull_request' }),
    'rule "shop": event_name is pull_request, must be pull_request_target',
  ],
  [
    'a pull request by a pattern',
    { ...web, event_name: 'pull_*' },
    change({ event_name: 'pull_request' }),
    'rule "shop": event_name is pull_request, which the rule has to name',
  ],
  [
    'a pull request by *',
    { ...web, event_name: '*' },
    change({ event_name: 'pull_request' }),
    'rule "shop": event_name is pull_request, which the rule has to name',
  ],
  ['a push by *', { ...web, event_name: '*' }, github, 'allowed'],
  [
    'one of two events',
    { ...web, event_name: ['push', 'workflow_dispatch'] },
    change({ event_name: 'workflow_dispatch' }),
    'allowed',
  ],
  [
    'none of two events',
    { ...web, event_name: ['push', 'workflow_dispatch'] },
    change({ event_name: 'schedule' }),
    'rule "shop": event_name is schedule, must be push or workflow_dispatch',
  ],
  [
    'no event',
    { ...web, event_name: 'push' },
    without(github, 'event_name'),
    'rule "shop": event_name is missing, must be push',
  ],
  [
    'a recycled name with another id',
    main,
    change({ repository_id: '457000' }),
    'no rule for repository_id 457000 (shop/web)',
  ],
  [
    'a renamed repository',
    main,
    change({ repository: 'shop/storefront', sub: 'repo:shop/storefront:ref:refs/heads/main' }),
    'allowed',
  ],
  ['a renamed owner', main, change({ repository: 'store/web', repository_owner: 'store' }), 'allowed'],
  [
    'a renamed repository that the rule names too',
    { ...main, repository: 'shop/web' },
    change({ repository: 'shop/storefront' }),
    'rule "shop": repository is shop/storefront, must be shop/web',
  ],
  [
    'a transferred repository',
    { ...main, repository_owner_id: '123' },
    change({ repository_owner_id: '124' }),
    'no rule for repository_id 456789 (shop/web)',
  ],
  ['one of two repositories', { repository_id: ['456789', '456790'] }, change({ repository_id: '456790' }), 'allowed'],
  [
    'none of two repositories',
    { repository_id: ['456789', '456790'] },
    change({ repository_id: '456791' }),
    'no rule for repository_id 456791 (shop/web)',
  ],
  [
    'an id that begins as the pinned one',
    web,
    change({ repository_id: '4567890' }),
    'no rule for repository_id 4567890 (shop/web)',
  ],
  [
    'an id with a zero before it',
    web,
    change({ repository_id: '0456789' }),
    'no rule for repository_id 0456789 (shop/web)',
  ],
  ['an id that is a number', web, change({ repository_id: 456789 }), 'allowed'],
  [
    'an id that is a list',
    web,
    change({ repository_id: ['456789'] }),
    'no rule for repository_owner_id 123 (shop/web)',
  ],
  ['no id', web, without(github, 'repository_id'), 'no rule for repository_owner_id 123 (shop/web)'],
  [
    'no ids at all',
    web,
    without(github, 'repository_id', 'repository_owner_id'),
    'no rule for sub repo:shop/web:ref:refs/heads/main',
  ],
  ['sub in its older form', { ...web, sub: 'repo:shop/web:ref:refs/heads/main' }, github, 'allowed'],
  [
    'sub in its newer form',
    { ...web, sub: 'repo:shop@123/web@456789:ref:refs/heads/main' },
    change({ sub: 'repo:shop@123/web@456789:ref:refs/heads/main' }),
    'allowed',
  ],
  [
    'sub in its newer form for a rule of the older',
    { ...web, sub: 'repo:shop/web:ref:refs/heads/main' },
    change({ sub: 'repo:shop@123/web@456789:ref:refs/heads/main' }),
    'rule "shop": sub is repo:shop@123/web@456789:ref:refs/heads/main, must be repo:shop/web:ref:refs/heads/main',
  ],
  [
    'sub of an environment',
    { ...web, sub: 'repo:shop/web:environment:production' },
    change({ sub: 'repo:shop/web:environment:production' }),
    'allowed',
  ],
  [
    'either form of sub',
    { ...web, sub: ['repo:shop/web:ref:refs/heads/main', 'repo:shop@123/web@456789:ref:refs/heads/main'] },
    change({ sub: 'repo:shop@123/web@456789:ref:refs/heads/main' }),
    'allowed',
  ],
  ['the environment', { ...web, environment: 'production' }, change({ environment: 'production' }), 'allowed'],
  [
    'another environment',
    { ...web, environment: 'production' },
    change({ environment: 'staging' }),
    'rule "shop": environment is staging, must be production',
  ],
  [
    'no environment',
    { ...web, environment: 'production' },
    github,
    'rule "shop": environment is missing, must be production',
  ],
  [
    'the reusable workflow',
    { repository_owner_id: '123', job_workflow_ref: 'shop/web/.github/workflows/deploy.yml@refs/heads/main' },
    github,
    'allowed',
  ],
  [
    'the workflow on any branch',
    { ...web, job_workflow_ref: 'shop/web/.github/workflows/deploy.yml@refs/heads/*' },
    change({ job_workflow_ref: 'shop/web/.github/workflows/deploy.yml@refs/heads/dev' }),
    'allowed',
  ],
  [
    'another workflow',
    { ...web, job_workflow_ref: 'shop/web/.github/workflows/deploy.yml@refs/heads/*' },
    change({ job_workflow_ref: 'shop/web/.github/workflows/evil.yml@refs/heads/main' }),
    'rule "shop": job_workflow_ref is shop/web/.github/workflows/evil.yml@refs/heads/main, must be shop/web/.github/workflows/deploy.yml@refs/heads/*',
  ],
  [
    'a workflow of another repository',
    { ...web, job_workflow_ref: 'shop/web/*' },
    change({ job_workflow_ref: 'mallory/web/.github/x.yml@refs/heads/main' }),
    'rule "shop": job_workflow_ref is mallory/web/.github/x.yml@refs/heads/main, must be shop/web/*',
  ],
  ['a runner of GitHub', { ...web, runner_environment: 'github-hosted' }, github, 'allowed'],
  [
    "a runner of one's own",
    { ...web, runner_environment: 'github-hosted' },
    change({ runner_environment: 'self-hosted' }),
    'rule "shop": runner_environment is self-hosted, must be github-hosted',
  ],
  [
    'the first wrong claim of two is named',
    { ...main, event_name: 'push' },
    change({ ref: 'refs/heads/x', event_name: 'schedule' }),
    'rule "shop": ref is refs/heads/x, must be refs/heads/main',
  ],
  [
    'an id of GitLab in a rule for a token of GitHub',
    { project_id: '456789' },
    github,
    'no rule for repository_id 456789 (shop/web)',
  ],
  ['a claim of the prototype', { ...web, constructor: 'x' }, github, 'rule "shop": constructor is missing, must be x'],
  [
    'a claim that the rule calls __proto__ as text',
    { ...web, toString: '*' },
    github,
    'rule "shop": toString is missing, must be *',
  ],
  [
    'control characters are shown as such',
    main,
    change({ ref: 'a\nb' }),
    'rule "shop": ref is a\\u000ab, must be refs/heads/main',
  ],
  [
    'a long value is cut',
    main,
    change({ ref: 'x'.repeat(500) }),
    `rule "shop": ref is ${'x'.repeat(63)}…, must be refs/heads/main`,
  ],
]

/** What GitLab's documentation shows of an ID token of a branch's pipeline. */
const gitlab = {
  iss: 'https://gitlab.example',
  sub: 'project_path:shop/web:ref_type:branch:ref:main',
  project_id: '22',
  project_path: 'shop/web',
  namespace_id: '72',
  namespace_path: 'shop',
  ref: 'main',
  ref_type: 'branch',
  ref_protected: 'true',
  pipeline_source: 'push',
  sha: 'b'.repeat(40),
  job_id: '302',
}
const project = { project_id: '22' }
const branch = { ...project, ref: 'main', ref_type: 'branch' }
const lab = (claims: Claims): Claims => ({ ...gitlab, ...claims })

const gitlabRows: readonly Row[] = [
  ['the project alone', project, gitlab, 'allowed'],
  ['the namespace alone', { namespace_id: '72' }, gitlab, 'allowed'],
  ['a branch', branch, gitlab, 'allowed'],
  ['another branch', branch, lab({ ref: 'dev' }), 'rule "shop": ref is dev, must be main'],
  ['a tag called main', branch, lab({ ref_type: 'tag' }), 'rule "shop": ref_type is tag, must be branch'],
  [
    'a tag, for a rule of tags',
    { ...project, ref: 'v*', ref_type: 'tag' },
    lab({ ref: 'v1.2', ref_type: 'tag' }),
    'allowed',
  ],
  [
    'a branch called as a tag',
    { ...project, ref: 'v*', ref_type: 'tag' },
    lab({ ref: 'v1.2' }),
    'rule "shop": ref_type is branch, must be tag',
  ],
  ['a branch with /', { ...project, ref: 'release/*', ref_type: 'branch' }, lab({ ref: 'release/2' }), 'allowed'],
  [
    'a branch with two /',
    { ...project, ref: 'release/*', ref_type: 'branch' },
    lab({ ref: 'release/2/x' }),
    'rule "shop": ref is release/2/x, must be release/*',
  ],
  [
    'a branch with / for any branch',
    { ...project, ref: '*', ref_type: 'branch' },
    lab({ ref: 'a/b' }),
    'rule "shop": ref is a/b, must be *',
  ],
  ['a protected ref', { ...project, ref_protected: 'true' }, gitlab, 'allowed'],
  [
    'a ref that is not protected',
    { ...project, ref_protected: 'true' },
    lab({ ref_protected: 'false' }),
    'rule "shop": ref_protected is false, must be true',
  ],
  ['a protected ref as a boolean', { ...project, ref_protected: 'true' }, lab({ ref_protected: true }), 'allowed'],
  [
    'a ref that is not protected, as a boolean',
    { ...project, ref_protected: 'true' },
    lab({ ref_protected: false }),
    'rule "shop": ref_protected is false, must be true',
  ],
  [
    'a protected ref in capitals',
    { ...project, ref_protected: 'true' },
    lab({ ref_protected: 'True' }),
    'rule "shop": ref_protected is True, must be true',
  ],
  [
    'no word about protection',
    { ...project, ref_protected: 'true' },
    without(gitlab, 'ref_protected'),
    'rule "shop": ref_protected is missing, must be true',
  ],
  [
    'a merge request',
    project,
    lab({ pipeline_source: 'merge_request_event' }),
    'rule "shop": pipeline_source is merge_request_event, which the rule has to name',
  ],
  [
    'a merge request of a branch called main',
    branch,
    lab({ pipeline_source: 'merge_request_event' }),
    'rule "shop": pipeline_source is merge_request_event, which the rule has to name',
  ],
  [
    'a merge request that the rule names',
    { ...project, pipeline_source: 'merge_request_event' },
    lab({ pipeline_source: 'merge_request_event' }),
    'allowed',
  ],
  [
    'a merge request beside a push',
    { ...project, pipeline_source: ['push', 'merge_request_event'] },
    lab({ pipeline_source: 'merge_request_event' }),
    'allowed',
  ],
  [
    'a merge request by a pattern',
    { ...project, pipeline_source: 'merge_*' },
    lab({ pipeline_source: 'merge_request_event' }),
    'rule "shop": pipeline_source is merge_request_event, which the rule has to name',
  ],
  [
    'a fork before 18.2.2, with the id of its target',
    branch,
    lab({ pipeline_source: 'merge_request_event', ref_protected: 'false' }),
    'rule "shop": pipeline_source is merge_request_event, which the rule has to name',
  ],
  [
    'a fork before 18.2.2 on another branch',
    branch,
    lab({ pipeline_source: 'merge_request_event', ref: 'evil' }),
    'rule "shop": ref is evil, must be main',
  ],
  [
    'a fork since 18.2.2, with its own id',
    branch,
    lab({ project_id: '99', project_path: 'mallory/web' }),
    'no rule for project_id 99 (mallory/web)',
  ],
  [
    'a fork in a namespace that is allowed',
    { namespace_id: '72' },
    lab({ namespace_id: '73', project_id: '99', project_path: 'mallory/web' }),
    'no rule for project_id 99 (mallory/web)',
  ],
  [
    'a fork since 18.2.2 with the name of its target',
    branch,
    lab({ project_id: '99' }),
    'no rule for project_id 99 (shop/web)',
  ],
  [
    'a scheduled pipeline',
    { ...project, pipeline_source: ['push', 'web'] },
    lab({ pipeline_source: 'schedule' }),
    'rule "shop": pipeline_source is schedule, must be push or web',
  ],
  [
    'a triggered pipeline',
    { ...project, pipeline_source: ['push', 'trigger'] },
    lab({ pipeline_source: 'trigger' }),
    'allowed',
  ],
  ['a renamed project', branch, lab({ project_path: 'shop/storefront' }), 'allowed'],
  [
    'a renamed project that the rule names too',
    { ...branch, project_path: 'shop/web' },
    lab({ project_path: 'shop/storefront' }),
    'rule "shop": project_path is shop/storefront, must be shop/web',
  ],
  ['a recycled name', branch, lab({ project_id: '23' }), 'no rule for project_id 23 (shop/web)'],
  ['an id that is a number', project, lab({ project_id: 22 }), 'allowed'],
  ['an id that is another number', project, lab({ project_id: 220 }), 'no rule for project_id 220 (shop/web)'],
  ['project and namespace', { ...project, namespace_id: '72' }, gitlab, 'allowed'],
  [
    'a project that was moved',
    { ...project, namespace_id: '72' },
    lab({ namespace_id: '73' }),
    'no rule for project_id 22 (shop/web)',
  ],
  ['an environment', { ...project, environment: 'production' }, lab({ environment: 'production' }), 'allowed'],
  [
    'another environment',
    { ...project, environment: 'production' },
    lab({ environment: 'review/x' }),
    'rule "shop": environment is review/x, must be production',
  ],
  [
    'a protected environment',
    { ...project, environment_protected: 'true' },
    lab({ environment_protected: 'false' }),
    'rule "shop": environment_protected is false, must be true',
  ],
  [
    'a user',
    { ...project, user_login: 'ada' },
    lab({ user_login: 'bob' }),
    'rule "shop": user_login is bob, must be ada',
  ],
  ['sub, exactly', { ...project, sub: gitlab.sub }, gitlab, 'allowed'],
  [
    'another sub',
    { ...project, sub: gitlab.sub },
    lab({ sub: 'project_path:shop/web:ref_type:tag:ref:main' }),
    'rule "shop": sub is project_path:shop/web:ref_type:tag:ref:main, must be project_path:shop/web:ref_type:branch:ref:main',
  ],
  [
    'a file of the pipeline',
    { ...project, ci_config_ref_uri: 'gitlab.example/shop/ci//deploy.yml@refs/heads/main' },
    lab({ ci_config_ref_uri: 'gitlab.example/shop/ci//deploy.yml@refs/heads/main' }),
    'allowed',
  ],
  [
    'another file of the pipeline',
    { ...project, ci_config_ref_uri: 'gitlab.example/shop/ci//deploy.yml@refs/heads/main' },
    lab({ ci_config_ref_uri: 'gitlab.example/shop/web//.gitlab-ci.yml@refs/heads/main' }),
    'rule "shop": ci_config_ref_uri is gitlab.example/shop/web//.gitlab-ci.yml@refs/heads/main, must be gitlab.example/shop/ci//deploy.yml@refs/heads/main',
  ],
]

const projectId = 'oidc.circleci.com/project-id'
const rerun = 'oidc.circleci.com/ssh-rerun'
const circle = {
  iss: 'https://oidc.circleci.com/org/7',
  sub: 'org/7/project/8/user/9',
  [projectId]: '8',
  'oidc.circleci.com/context-ids': ['c1'],
  'oidc.circleci.com/vcs-ref': 'refs/heads/main',
  'oidc.circleci.com/vcs-origin': 'github.com/shop/web',
  [rerun]: false,
}
const circleRows: readonly Row[] = [
  ['the project', { [projectId]: '8' }, circle, 'allowed'],
  ['another project', { [projectId]: '8' }, { ...circle, [projectId]: '80' }, `no rule for ${projectId} 80`],
  [
    'a rerun with SSH',
    { [projectId]: '8' },
    { ...circle, [rerun]: true },
    `rule "shop": ${rerun} is true, must be false`,
  ],
  [
    'a rerun with SSH as text',
    { [projectId]: '8' },
    { ...circle, [rerun]: 'true' },
    `rule "shop": ${rerun} is true, must be false`,
  ],
  [
    'a rerun that is the text false',
    { [projectId]: '8' },
    { ...circle, [rerun]: 'false' },
    `rule "shop": ${rerun} is false, must be false`,
  ],
  [
    'no word about a rerun',
    { [projectId]: '8' },
    without(circle, rerun),
    `rule "shop": ${rerun} is missing, must be false`,
  ],
  [
    'a rerun that the rule names',
    { [projectId]: '8', [rerun]: 'true' },
    { ...circle, [rerun]: true },
    `rule "shop": ${rerun} is true, must be false`,
  ],
  ['a branch', { [projectId]: '8', 'oidc.circleci.com/vcs-ref': 'refs/heads/main' }, circle, 'allowed'],
  [
    'another branch',
    { [projectId]: '8', 'oidc.circleci.com/vcs-ref': 'refs/heads/main' },
    { ...circle, 'oidc.circleci.com/vcs-ref': 'refs/heads/x' },
    'rule "shop": oidc.circleci.com/vcs-ref is refs/heads/x, must be refs/heads/main',
  ],
  [
    'a list as a value',
    { [projectId]: '8', 'oidc.circleci.com/context-ids': 'c1' },
    circle,
    'rule "shop": oidc.circleci.com/context-ids is missing, must be c1',
  ],
  ['no project', { [projectId]: '8' }, without(circle, projectId), 'no rule for sub org/7/project/8/user/9'],
]

const buildkite = {
  iss: 'https://agent.buildkite.com',
  sub: 'organization:shop:pipeline:web:ref:refs/heads/main:commit:abc:step:deploy',
  organization_slug: 'shop',
  pipeline_slug: 'web',
  pipeline_id: '0184990a-477b-4fa8-9968-496074483cee',
  build_number: 7,
  build_branch: 'main',
  build_commit: 'c'.repeat(40),
}
const pipeline = { pipeline_id: '0184990a-477b-4fa8-9968-496074483cee' }
const buildkiteRows: readonly Row[] = [
  ['the pipeline', pipeline, buildkite, 'allowed'],
  ['the pipeline and its branch', { ...pipeline, build_branch: 'main' }, buildkite, 'allowed'],
  [
    'another branch',
    { ...pipeline, build_branch: 'main' },
    { ...buildkite, build_branch: 'x' },
    'rule "shop": build_branch is x, must be main',
  ],
  [
    'no --claim pipeline_id',
    pipeline,
    without(buildkite, 'pipeline_id'),
    'no rule for sub organization:shop:pipeline:web:ref:refs/heads/main:commit:abc:s…',
  ],
  ['another pipeline', pipeline, { ...buildkite, pipeline_id: '1' }, 'no rule for pipeline_id 1 (web)'],
  ['a number as a value', { ...pipeline, build_number: '7' }, buildkite, 'allowed'],
  ['another number', { ...pipeline, build_number: '8' }, buildkite, 'rule "shop": build_number is 7, must be 8'],
  [
    'the id in capitals',
    pipeline,
    { ...buildkite, pipeline_id: pipeline.pipeline_id.toUpperCase() },
    'no rule for pipeline_id 0184990A-477B-4FA8-9968-496074483CEE (web)',
  ],
]

/** Each pinned id by itself: what is not exactly it is another one. */
const pinnedRows: readonly Row[] = [
  ['repository_id', github],
  ['repository_owner_id', github],
  ['project_id', gitlab],
  ['namespace_id', gitlab],
  [projectId, circle],
  ['pipeline_id', buildkite],
].flatMap(([name, base]) => {
  const [claim, claims] = [name as string, base as Claims]
  const of = (value: unknown): Claims => ({ ...claims, [claim]: value })
  const refused = expect.stringContaining('no rule for ') as string
  return [
    [`${claim}: as it is`, { [claim]: '5' }, of('5'), 'allowed'],
    [`${claim}: as a number`, { [claim]: '5' }, of(5), 'allowed'],
    [`${claim}: second of a list`, { [claim]: ['4', '5'] }, of('5'), 'allowed'],
    [`${claim}: longer`, { [claim]: '5' }, of('55'), refused],
    [`${claim}: with a *`, { [claim]: '5' }, of('5*'), refused],
    [`${claim}: a * alone`, { [claim]: '5' }, of('*'), refused],
    [`${claim}: with a blank`, { [claim]: '5' }, of(' 5'), refused],
    [`${claim}: empty`, { [claim]: '5' }, of(''), refused],
    [`${claim}: null`, { [claim]: '5' }, of(null), refused],
    [`${claim}: an object`, { [claim]: '5' }, of({ toString: '5' }), refused],
  ] as const
})

const rows = [...githubRows, ...gitlabRows, ...circleRows, ...buildkiteRows, ...pinnedRows]

test.for(rows)('%s', ([, match, claims, expected]) => expect(reasonOf(claims, ruleOf(match))).toEqual(expected))

test('the table has at least 200 rows', () => expect(rows.length).toBeGreaterThanOrEqual(200))

describe('of several rules', () => {
  const named = (name: string, match: object, apps: readonly string[]) => ({ ...ruleOf(match), name, apps })

  test('all that hold count', () => {
    const rules = [named('a', main, ['a']), named('b', web, ['b']), named('c', { repository_id: '1' }, ['c'])]
    expect(judgeClaims(github, rules)).toMatchObject({ kind: 'allowed', rules: [{ name: 'a' }, { name: 'b' }] })
  })

  test('the one with the fewest wrong claims is named', () => {
    const far = named('far', { ...web, ref: 'refs/heads/a', environment: 'x' }, ['a'])
    const near = named('near', { ...web, environment: 'production' }, ['b'])
    expect(reasonOf(github, far, near)).toBe('rule "near": environment is missing, must be production')
  })

  test('one of another repository is not named, however near it is', () => {
    const other = named('other', { repository_id: '1' }, ['a'])
    const own = named('own', { ...web, ref: 'refs/heads/a', environment: 'x' }, ['b'])
    expect(reasonOf(github, other, own)).toBe('rule "own": ref is refs/heads/main, must be refs/heads/a')
    expect(reasonOf(github, other)).toBe('no rule for repository_id 456789 (shop/web)')
  })
})
