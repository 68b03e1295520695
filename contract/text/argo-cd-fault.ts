import { parseRejection, type Rejection } from './parse-rejection.ts'

/** What is at fault where Argo CD cannot compare or sync. */
export type ArgoCdFault =
  | Exclude<Rejection['by'], 'other'>
  | 'project'
  | 'repo_server'
  | 'revision'
  | 'path'
  | 'repository'
  | 'cluster'
  | 'permission'
  | 'namespace'
  | 'missing_kind'
  | 'manifests'

/** In this order: a message that wraps another one is told by the inner. */
const patterns: readonly (readonly [ArgoCdFault, RegExp])[] = [
  [
    'project',
    /not permitted in project|allowed destinations in project|not allowed (?:in|to use) project|project .*does not exist|referencing project/i,
  ],
  ['revision', /unable to resolve '[^']*' to a commit SHA|couldn't find remote ref|unknown revision/i],
  ['path', /app path does not exist|path does not exist/i],
  ['repo_server', /code = Unavailable|repo-server|error creating SSH agent|lookup argocd-redis/i],
  [
    'repository',
    /repository not found|authentication required|failed to list refs|failed to get git client|could not read (?:username|from remote)|unable to ls-remote|failed to fetch|ssh: handshake|knownhosts/i,
  ],
  [
    'cluster',
    /failed to (?:load live state|get cluster)|cluster .*not found|synchronizing cache state|server has asked for the client to provide credentials/i,
  ],
  ['permission', /is forbidden: User "/i],
  ['namespace', /namespaces "[^"]*" not found/i],
  ['missing_kind', /failed to discover server resources|no matches for kind|Make sure the "[^"]*" CRD is installed/i],
]

export function argoCdFault(message: string): ArgoCdFault {
  const known = patterns.find(([, pattern]) => pattern.test(message))?.[0]
  if (known !== undefined) return known
  const by = parseRejection(message)?.by
  return by === undefined || by === 'other' ? 'manifests' : by
}
