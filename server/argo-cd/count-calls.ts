import type { ArgoCdClient } from './argo-cd-client.ts'

/** The same client, which says of each call what was asked for and what came of it. */
export function countCalls(client: ArgoCdClient, onCall: (kind: string, result: string) => void): ArgoCdClient {
  const counted =
    <Args extends readonly unknown[], Outcome extends { readonly kind: string }>(
      kind: string,
      call: (...args: Args) => Promise<Outcome>,
    ) =>
    async (...args: Args): Promise<Outcome> => {
      const outcome = await call(...args)
      onCall(kind, outcome.kind)
      return outcome
    }
  return {
    ...client,
    readApplication: counted('application', client.readApplication),
    refreshApplication: counted('refresh', client.refreshApplication),
    listApplications: counted('list', client.listApplications),
    readResourceTree: counted('resource_tree', client.readResourceTree),
    readManagedResources: counted('managed_resources', client.readManagedResources),
    readSyncWindows: counted('sync_windows', client.readSyncWindows),
    readEvents: counted('events', client.readEvents),
    readLivePod: counted('live_pod', client.readLivePod),
    readPodLog: counted('logs', client.readPodLog),
    probe: counted('session', client.probe),
    openStream: counted('stream', client.openStream),
  }
}
