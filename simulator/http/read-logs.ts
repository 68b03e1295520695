import { kubernetesTime } from '../model/clock.ts'
import type { Pod } from '../model/pod.ts'
import { isAllowed } from './accounts.ts'
import { ApiError } from './api-error.ts'
import { type CallContext, readPermitted } from './application-calls.ts'
import { rbacObject } from './application-stream.ts'
import type { Call } from './call.ts'

/** The lines of a container's log, as envelopes of a stream. @throws {ApiError} for what Kubernetes refuses, too */
export function readLogs(call: Call, context: CallContext): readonly unknown[] {
  const application = readPermitted(call, context)
  const { account, url } = call
  const { controller } = context
  const object = rbacObject(application, controller.namespace)
  if (!isAllowed(account, 'logs', 'get', object)) {
    const who = `sub: ${account.name}, iat: ${kubernetesTime(account.issuedAtMs)}`
    throw new ApiError(7, `permission denied: logs, get, ${object}, ${who}`)
  }
  const podName = url.searchParams.get('podName') ?? ''
  const workloads = controller.managedAt(application.metadata)?.cluster.list() ?? []
  const pod = workloads.flatMap(({ pods }) => pods).find(({ name }) => name === podName)
  if (!pod) return []
  refuseAsKubernetes(pod, url.searchParams)
  const said = controller.logOf(application.metadata) ?? ownWords(pod)
  return envelopes(said.slice(-Number(url.searchParams.get('tailLines') ?? said.length)), pod, context.clock.now())
}

function refuseAsKubernetes({ name, containers, restarts, phase }: Pod, query: URLSearchParams): void {
  const container = query.get('container') || (containers.length === 1 ? containers[0]?.name : undefined)
  const names = containers.map((one) => one.name)
  if (container === undefined)
    throw new ApiError(9, `a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`)
  if (!names.includes(container)) throw new ApiError(9, `container ${container} is not valid for pod ${name}`)
  if (query.get('previous') === 'true' && restarts === 0)
    throw new ApiError(9, `previous terminated container "${container}" in pod "${name}" not found`)
  if (phase !== 'Running' && phase !== 'Completed' && restarts === 0)
    throw new ApiError(9, `container "${container}" in pod "${name}" is waiting to start: ${phase}`)
}

const ownWords = ({ restarts }: Pod) => [restarts > 0 ? 'fatal: the process ends with exit code 1' : 'server started']

function envelopes(lines: readonly string[], { createdAt, name: podName }: Pod, nowMs: number): readonly unknown[] {
  const time = kubernetesTime(createdAt)
  const last = kubernetesTime(nowMs)
  return [
    ...lines.map((content) => ({ result: { content, timeStamp: time, last: false, timeStampStr: time, podName } })),
    { result: { content: '', timeStamp: last, last: true, timeStampStr: last, podName: '' } },
  ]
}
