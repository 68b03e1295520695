import { livePod } from '../model/live-pod.ts'
import { kubernetesObject } from '../model/render-managed-resources.ts'
import { ApiError } from './api-error.ts'
import { type CallContext, readPermitted } from './application-calls.ts'
import type { Call } from './call.ts'
import { goJson } from './go-json.ts'

/** The live object of one resource of the tree, as JSON in a string. @throws {ApiError} if the tree has no such resource */
export function readResource(call: Call, context: CallContext): { manifest: string } {
  const { metadata } = readPermitted(call, context)
  const wanted = (name: string) => call.url.searchParams.get(name) ?? ''
  const isWanted = (resource: { namespace: string; name: string }) =>
    resource.name === wanted('resourceName') && resource.namespace === wanted('namespace')
  for (const workload of context.controller.managedAt(metadata)?.cluster.list() ?? []) {
    const { manifest, pods } = workload
    const pod = wanted('kind') === 'Pod' ? pods.find(isWanted) : undefined
    if (pod) return { manifest: goJson(livePod(workload, pod)) }
    if (isWanted(manifest) && manifest.kind === wanted('kind') && manifest.group === wanted('group'))
      return { manifest: goJson(kubernetesObject(metadata.name, manifest, workload)) }
  }
  const resource = [wanted('kind'), wanted('group'), wanted('resourceName')].join(' ')
  throw new ApiError(3, `${resource} not found as part of application ${metadata.name}`)
}
