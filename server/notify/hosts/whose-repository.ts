import type { Submitter } from '../../../contract/notify/submitter.ts'
import type { Source } from '../../../contract/task.ts'
import { isInScope } from '../../auth/access/scope.ts'
import { parseRepositoryAddress } from '../../write-back/plan/repository-address.ts'

export type Reported = {
  readonly source: Source | undefined
  readonly environment: string | undefined
  /** Undefined: without a credential, or by a version that did not know. */
  readonly submitter: Submitter | undefined
}

/** A host of commits, and the repositories on it that the configuration file lists. */
type Host = {
  readonly server: string
  readonly hasSubgroups: boolean
  readonly repositories: readonly string[]
}

/** The commit of a deployment, which its submitter may speak for. `repository`: its path on the host. */
export type ReportedCommit = {
  readonly repository: string
  readonly sha: string
  readonly environment: string
  /** A branch, or a tag where `isTag`; undefined: neither the body nor the token says. */
  readonly ref: string | undefined
  readonly isTag: boolean
}

/**
 * Decides whether a task may be reported on the commit that its body names: `source` is free text, and a report starts
 * workflows. A job of a CI speaks for the commit of its token alone, other credentials for what the target lists.
 * @returns the commit, or why there is nothing to report
 */
export function whoseCommit({ source, environment, submitter }: Reported, host: Host): ReportedCommit | string {
  if (submitter === undefined) return 'the task was submitted without a credential'
  if (source === undefined) return 'the task names no source'
  if (environment === undefined) return 'the task has no environment'
  const repository = pathOn(host, source.repository)
  if (repository === undefined) return 'source.repository is not on this host'
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(source.sha)) return 'source.sha is not the whole id of a commit'
  const refused = refusalOf(repository, source.sha, submitter, host)
  if (refused !== undefined) return refused
  return { repository, sha: source.sha, environment, ...refOf(source, claimOf(submitter)) }
}

const claimOf = (submitter: Submitter) => (submitter.kind === 'ci' ? submitter.source : undefined)

function refusalOf(repository: string, sha: string, submitter: Submitter, host: Host): string | undefined {
  if (submitter.kind === 'ci') {
    const { server, source: claim } = submitter
    const isItsOwn =
      server === host.server &&
      claim !== undefined &&
      isSame(pathOn(host, claim.repository), repository) &&
      claim.sha === sha
    return isItsOwn ? undefined : 'source is not the commit of the token of the CI'
  }
  const isListed = host.repositories.some((glob) => isInScope(repository.toLowerCase(), [glob.toLowerCase()]))
  return isListed ? undefined : 'repositories of the target does not list source.repository'
}

/** Both hosts find a repository whatever its case. */
const isSame = (one: string | undefined, other: string) => one?.toLowerCase() === other.toLowerCase()

/** The path of a repository on a host, from `owner/name` or an address of it; undefined for one elsewhere. */
function pathOn({ server, hasSubgroups }: Host, repository: string): string | undefined {
  const { host, hostname } = new URL(server)
  const address = parseRepositoryAddress(repository)
  const isElsewhere = address !== undefined && ![host, hostname].includes(hostOf(address))
  const path = address === undefined ? repository : address.location.slice(address.host.length + 1)
  const segments = path.split('/')
  const isPath =
    segments.every((segment) => /^[\w.-]+$/.test(segment) && !/^\.+$/.test(segment)) &&
    (hasSubgroups ? segments.length > 1 : segments.length === 2)
  return isPath && !isElsewhere ? path : undefined
}

/** The port of an SSH address says nothing about that of the pages. */
const hostOf = ({ protocol, host, port }: { protocol: string; host: string; port: number | undefined }) =>
  protocol === 'ssh' || port === undefined || port === 443 ? host : `${host}:${port}`

/** What was built, by the body, else by the token. */
function refOf(source: Source, claim: Source | undefined): Pick<ReportedCommit, 'ref' | 'isTag'> {
  const { tag, ref } = source.ref === undefined && source.tag === undefined ? { ...claim } : source
  const name = tag ?? /^refs\/tags\/(.+)$/.exec(ref ?? '')?.[1]
  if (name !== undefined) return { ref: name, isTag: true }
  return { ref: ref?.replace(/^refs\/heads\//, ''), isTag: false }
}
