import { Source } from '../../../contract/task.ts'
import { type Claims, textOf } from './match-rule.ts'

/**
 * The address of the job that has an ID token (GitHub, GitLab, Buildkite); undefined where the claims do not tell.
 * Source: the claims that these CIs document for their ID tokens.
 */
export function runUrlOf(claims: Claims): string | undefined {
  const part = (claim: string) => pathPart(textOf(claims, claim))
  const [repository, run, attempt] = [part('repository'), part('run_id'), part('run_attempt')]
  if (repository && run)
    return `${serverOf(claims)}/${repository}/actions/runs/${run}${attempt ? `/attempts/${attempt}` : ''}`
  const [project, job] = [part('project_path'), part('job_id')]
  if (project && job) return `${serverOf(claims)}/${project}/-/jobs/${job}`
  const [organization, pipeline, build] = [part('organization_slug'), part('pipeline_slug'), part('build_number')]
  if (organization && pipeline && build) return `https://buildkite.com/${organization}/${pipeline}/builds/${build}`
  return undefined
}

/** The commit that a pipeline runs on (GitHub, GitLab); undefined where the claims do not tell. */
export function sourceOfClaims(claims: Claims): Source | undefined {
  const [repository, sha, ref] = [
    textOf(claims, 'repository') ?? textOf(claims, 'project_path'),
    textOf(claims, 'sha'),
    textOf(claims, 'ref'),
  ]
  const path = pathPart(repository)
  const commit = 'project_path' in claims ? '-/commit' : 'commit'
  const url = path && pathPart(sha) ? `${serverOf(claims)}/${path}/${commit}/${pathPart(sha)}` : undefined
  const tag = textOf(claims, 'ref_type') === 'tag' ? ref?.replace(/^refs\/tags\//, '') : undefined
  return Source.safeParse({ repository, sha, ref, tag, url }).data
}

/** The address of the CI's own pages, by its issuer. GitHub's issuers have a host or a path of their own. */
export function serverOf(claims: Claims): string {
  const issuer = URL.parse(textOf(claims, 'iss') ?? '')
  if (!issuer) return ''
  const isGitHub = issuer.hostname === 'token.actions.githubusercontent.com'
  if (isGitHub) return 'https://github.com'
  const host = issuer.host.replace(/^token\.actions\.(?=[\w-]+\.ghe\.com$)/, '')
  return `${issuer.protocol}//${host}${issuer.pathname.replace(/\/_services\/token$/, '').replace(/\/$/, '')}`
}

/** A part of a path without what would lead elsewhere. */
const pathPart = (text: string | undefined): string | undefined =>
  text !== undefined && /^[\w.][\w./-]*$/.test(text) && !text.includes('..') ? text : undefined
