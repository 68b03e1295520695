import type { LiveContainer, LivePod } from '../../rollout/observed/observed-resources.ts'
import { listAt, numberAt, objectAt, parseJson, textAt } from './untrusted-json.ts'

/** Reads the answer of `resource` for a Pod: `status` and `resources` only, as the rest may hold secrets. */
export function parseLivePod(body: unknown): LivePod | undefined {
  const manifest = parseJson(textAt(body, 'manifest') ?? '')
  if (manifest === undefined) return undefined
  const spec = objectAt(manifest, 'spec')
  const status = objectAt(manifest, 'status')
  return {
    containers: [
      ...listAt(status, 'initContainerStatuses').map((one) => readContainer(one, listAt(spec, 'initContainers'), true)),
      ...listAt(status, 'containerStatuses').map((one) => readContainer(one, listAt(spec, 'containers'), false)),
    ],
  }
}

function readContainer(status: unknown, declared: readonly unknown[], isInit: boolean): LiveContainer {
  const name = textAt(status, 'name') ?? ''
  const container = declared.find((one) => textAt(one, 'name') === name)
  return {
    name,
    image: textAt(container, 'image') ?? textAt(status, 'image') ?? '',
    isInit,
    restarts: numberAt(status, 'restartCount') ?? 0,
    lastTermination: readTermination(status, 'state') ?? readTermination(status, 'lastState'),
    memoryLimit: textAt(objectAt(objectAt(container, 'resources'), 'limits'), 'memory'),
  }
}

function readTermination(status: unknown, key: 'state' | 'lastState'): LiveContainer['lastTermination'] {
  const terminated = objectAt(objectAt(status, key), 'terminated')
  const exitCode = numberAt(terminated, 'exitCode')
  if (exitCode === undefined) return undefined
  return { reason: textAt(terminated, 'reason'), exitCode, message: textAt(terminated, 'message') }
}
