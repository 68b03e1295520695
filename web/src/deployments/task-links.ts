import { httpUrl } from '../ui/http-url.ts'

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
