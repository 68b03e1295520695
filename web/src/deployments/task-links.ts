import type { TaskRecord } from '../../../contract/task.ts'
import { httpUrl } from '../ui/http-url.ts'

/** Where the commit can be seen, if the repository is reached over http(s); for SSH nobody knows the host's pages. */
export function commitUrl({ repository, commit }: TaskRecord): string | undefined {
  const url = httpUrl(repository)
  if (url === undefined || commit === undefined) return undefined
  return `${url.replace(/\/?(\.git)?\/?$/, '')}/commit/${encodeURIComponent(commit)}`
}

/** The repository in words: `shop/deployments` of an address, anything else as it is. */
export function repositoryName(repository: string): string {
  const url = httpUrl(repository)
  const path =
    url === undefined
      ? /^(?:ssh:\/\/)?[^/@\s]+@[^/:\s]+(?::\d+\/|[:/])(.+)$/.exec(repository)?.[1]
      : new URL(url).pathname
  return path?.replace(/^\/|(\.git)?\/?$/g, '') || repository
}

/** A full client in one line, for the record of a task. */
export const followCommand = (origin: string, id: string): string =>
  `curl --fail-with-body "${origin}/api/v1/tasks/${encodeURIComponent(id)}?wait=50"`
