import { parse } from 'yaml'
import { codeBlocksOf } from './documents.ts'

/** A job of docs/ci.md: its script, and how its runner runs it. */
export type Job = {
  readonly name: string
  readonly shell: readonly [string, ...string[]]
  readonly script: string
  /** Of the job, and what its runner sets. */
  readonly environment: Readonly<Record<string, string>>
  /** Which variable of the runner has the tag; TAG in jobs that set it. */
  readonly tagVariable?: string
  /** IMAGE has its tag. */
  readonly isTagged?: boolean
}

const blockUnder = (heading: string) => {
  const block = codeBlocksOf('docs/ci.md').findLast(
    (one) => one.heading === heading && ['yaml', 'groovy'].includes(one.language),
  )
  if (block === undefined) throw new Error(`docs/ci.md has no job under "${heading}"`)
  return block.code
}
export const yamlUnder = (heading: string) => parse(blockUnder(heading))

const gitHubVariables = {
  GITHUB_ACTIONS: 'true',
  GITHUB_ACTOR: 'ada',
  GITHUB_REPOSITORY: 'team/shop',
  GITHUB_SHA: 'abc',
}
const gitLabVariables = {
  GITLAB_CI: 'true',
  GITLAB_USER_LOGIN: 'ada',
  CI_PROJECT_PATH: 'team/shop',
  CI_COMMIT_SHA: 'abc',
}

function gitHubJob(heading: string): Job {
  const { env, steps } = yamlUnder(heading).jobs.deploy
  const [step] = steps
  // As a runner on Linux does where the job names no shell.
  const environment = { ...env, ...step.env, ...gitHubVariables }
  return { name: heading, shell: ['bash', '-e'], script: step.run, environment }
}

function gitLabJob(heading: string): Job {
  const { script, variables } = yamlUnder(heading).deploy
  const environment = { ...variables, ...gitLabVariables }
  return { name: heading, shell: ['sh', '-e'], script: script.join('\n'), environment }
}

export const jobsWithClient = [gitHubJob('GitHub Actions with the client'), gitLabJob('GitLab CI with the client')]
export const jobsWithCurl = [gitHubJob('GitHub Actions with curl'), gitLabJob('GitLab CI with curl')]

function jenkins(): Job {
  const code = blockUnder('Jenkins')
  const [, script = ''] = /\bsh '(.+)'$/m.exec(code) ?? []
  const variables = [...code.matchAll(/^ +(\w+) = '(.+)'$/gm)].map(([, name = '', value = '']) => [name, value])
  return {
    name: 'Jenkins',
    shell: ['sh', '-xe'],
    script,
    environment: {
      ...Object.fromEntries(variables),
      ...{ JENKINS_URL: 'https://ci.example', BUILD_USER_ID: 'ada', JOB_NAME: 'team/shop' },
      GIT_URL: 'https://git.example/team/shop.git',
    },
    tagVariable: 'GIT_COMMIT',
  }
}

function circleCi(): Job {
  const { environment, steps } = yamlUnder('CircleCI').jobs.deploy
  const ofRunner = { CIRCLECI: 'true', CIRCLE_USERNAME: 'ada' }
  return {
    name: 'CircleCI',
    shell: ['bash', '-eo', 'pipefail'],
    script: steps[0].run.command,
    environment: {
      ...environment,
      ...ofRunner,
      ...{ CIRCLE_PROJECT_USERNAME: 'team', CIRCLE_PROJECT_REPONAME: 'shop' },
    },
    tagVariable: 'CIRCLE_SHA1',
  }
}

function buildkite(): Job {
  const { env, steps } = yamlUnder('Buildkite')
  return {
    name: 'Buildkite',
    shell: ['bash', '-e'],
    // The upload of a pipeline puts values in place of `$NAME`, and leaves a `$` of `$$NAME`.
    script: steps[0].command.replace(/\$(\$?)(\w+)/g, (_: string, escaping: string, name: string) =>
      escaping === '' ? '' : `$${name}`,
    ),
    environment: {
      ...env,
      ...{ BUILDKITE: 'true', BUILDKITE_BUILD_CREATOR: 'ada', BUILDKITE_REPO: 'git@git.example:team/shop.git' },
      ...{ BUILDKITE_ORGANIZATION_SLUG: 'team', BUILDKITE_PIPELINE_SLUG: 'shop' },
    },
    tagVariable: 'BUILDKITE_COMMIT',
  }
}

function azure(): Job {
  const { variables, jobs } = yamlUnder('Azure Pipelines')
  return {
    name: 'Azure Pipelines',
    shell: ['bash', '--noprofile', '--norc'],
    script: jobs[0].steps.at(-1).bash,
    environment: {
      ...variables,
      ...{ TF_BUILD: 'True', BUILD_REQUESTEDFOR: 'ada', SYSTEM_TEAMPROJECT: 'team', BUILD_DEFINITIONNAME: 'shop' },
      BUILD_REPOSITORY_NAME: 'team/shop',
    },
    tagVariable: 'BUILD_SOURCEVERSION',
  }
}

function bitbucket(): Job {
  const [{ step }] = yamlUnder('Bitbucket Pipelines').pipelines.branches.main
  const [exported, ...lines] = step.script as string[]
  const variables = [...(exported?.matchAll(/(\w+)=(\S+)/g) ?? [])].map(([, name, value]) => [name, value])
  return {
    name: 'Bitbucket Pipelines',
    shell: ['sh', '-e'],
    script: lines.join('\n'),
    environment: {
      ...Object.fromEntries(variables),
      ...{ BITBUCKET_BUILD_NUMBER: '1', BITBUCKET_STEP_TRIGGERER_UUID: 'ada', BITBUCKET_REPO_FULL_NAME: 'team/shop' },
    },
    tagVariable: 'BITBUCKET_COMMIT',
  }
}

/** Without what the cluster puts in: parameters, and values of Secrets. */
const ofEntries = (env: readonly { name: string; value?: string }[]) =>
  Object.fromEntries(env.map(({ name, value = '' }) => [name, value]))

function tekton(): Job {
  const [step] = yamlUnder('Tekton').spec.steps
  return {
    name: 'Tekton',
    shell: ['sh'],
    script: step.script.replace(/\$\(results\.([\w-]+)\.path\)/g, '$1'),
    environment: ofEntries(step.env),
    isTagged: true,
  }
}

function argoWorkflows(): Job {
  const [{ script }] = yamlUnder('Argo Workflows').spec.templates
  const { command, source, env } = script
  return { name: 'Argo Workflows', shell: command, script: source, environment: ofEntries(env), isTagged: true }
}

/** The jobs of systems that the client knows, then those of systems that it does not. */
export const otherJobs: readonly Job[] = [jenkins(), circleCi(), buildkite(), azure(), bitbucket()]
export const jobsInClusters: readonly Job[] = [tekton(), argoWorkflows()]
