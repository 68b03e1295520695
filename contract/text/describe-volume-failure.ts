import { innermostErrors, nameKinds, plainWords } from './plain-words.ts'

/** What a message of the kubelet, the scheduler or a volume controller says of a volume. */
type VolumeFailure = { readonly volume: string | undefined; readonly does: string; readonly why: string }

export function parseVolumeFailure(message: string): VolumeFailure {
  const text = plainWords(message)
  const [, verb, volume, rest = ''] =
    /^(MountVolume|AttachVolume|MapVolume|UnmountVolume)\.\w+ failed for volume "([^"]+)" ?: ?(.*)$/.exec(text) ?? []
  if (volume !== undefined)
    return {
      volume,
      does: verb === 'AttachVolume' ? 'cannot be attached' : 'cannot be mounted',
      why: describeVolume(rest),
    }
  const [, shared] = /^Multi-Attach error for volume "([^"]+)"/.exec(text) ?? []
  if (shared !== undefined)
    return { volume: shared, does: 'cannot be attached', why: 'another Pod on another node uses it' }
  const [, unmounted] = /unmounted volumes=\[([^\]\s]+)/.exec(text) ?? []
  if (unmounted !== undefined)
    return { volume: unmounted, does: 'cannot be mounted', why: describeVolume(text.replace(/^[^[]*\[.*\]: /, '')) }
  return { volume: undefined, does: 'cannot be mounted', why: describeVolume(text) }
}

export const unboundClaim = 'a PersistentVolumeClaim is not bound'

/** Why a volume is not there, in a few words. */
export function describeVolume(message: string): string {
  const text = nameKinds(plainWords(message))
  if (/unbound immediate PersistentVolumeClaims/.test(text)) return unboundClaim
  if (/no persistent volumes available/.test(text))
    return 'no PersistentVolume is available, and no storage class is set'
  if (/^timed out waiting|deadline exceeded/.test(text)) return 'timed out'
  const key = /non-existent (?:config|secret) key: (\S+?)\.?$/.exec(text)?.[1]
  if (key !== undefined) return `key ${key} not found`
  const driver = /driver name (\S+) not found/.exec(text)?.[1]
  if (driver !== undefined) return `CSI driver ${driver} is not on the node`
  const missing = /(?:ConfigMap|Secret|PersistentVolumeClaim|storage class) \S+ (?:not found|is being deleted)/.exec(
    text,
  )?.[0]
  return missing ?? innermostErrors(text, 80)
}
