import type { TaskRecord } from '../../../contract/task.ts'
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

/** The job of a CI in words: the path of its address, `shop/web/actions/runs/7/attempts/1`. */
export const pipelineName = (url: string): string => httpUrl(url)?.replace(/^https?:\/\/[^/]+\//, '') ?? url

/** The log of the Pod to blame in Argo CD's own page of the application. */
export function podLogAddress({
  app_url: address,
  diagnosis,
}: Pick<TaskRecord, 'app_url' | 'diagnosis'>): string | undefined {
  const [url, culprit] = [httpUrl(address), diagnosis?.culprit]
  if (url === undefined || culprit?.kind !== 'Pod') return undefined
  const query = new URLSearchParams({ node: `/Pod/${culprit.namespace}/${culprit.name}/0`, tab: 'logs' })
  return `${url}?${query}`
}

/** A full client in one line, for the record of a task. */
export const followCommand = (origin: string, id: string): string =>
  `curl --fail-with-body "${origin}/api/v1/tasks/${encodeURIComponent(id)}?wait=50"`
