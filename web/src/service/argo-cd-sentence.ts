import type { ServiceStatus } from '../../../contract/service-status.ts'
import { duration } from '../ui/duration.ts'

/** "Connected. Last message 2 s ago. 46 applications seen." as far as it is known to the reader. */
export function argoCdSentence(status: ServiceStatus['argo_cd'], now: number): string {
  const { last_message: last, unreachable_since: since, applications, detail } = status
  return [
    stateOf(status.status, since === undefined ? undefined : now - since),
    status.status === 'up' || detail === undefined ? '' : `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`,
    last === undefined ? '' : `Last message ${duration(now - last)} ago.`,
    applications === undefined
      ? ''
      : `${applications.toLocaleString('en')} ${applications === 1 ? 'application' : 'applications'} seen.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

function stateOf(status: ServiceStatus['argo_cd']['status'], unreachableSeconds: number | undefined): string {
  if (status === 'up') return 'Connected.'
  const since = unreachableSeconds === undefined ? '' : ` for ${duration(unreachableSeconds)}`
  return status === 'down' ? `Unreachable${since}.` : `Connected, with delays${since}.`
}
