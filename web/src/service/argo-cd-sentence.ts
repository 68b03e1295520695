import type { ServiceStatus } from '../../../contract/service-status.ts'
import { capitalize } from '../ui/capitalize.ts'
import { duration } from '../ui/duration.ts'
import { figure } from '../ui/figure.ts'

/** "Connected. Last message 2 s ago. 46 applications seen." as far as it is known to the reader. */
export function argoCdSentence(status: ServiceStatus['argo_cd'], now: number): string {
  const { last_message: last, unreachable_since: since, applications, detail } = status
  return [
    stateOf(status.status, since === undefined ? undefined : now - since),
    status.status === 'up' || detail === undefined ? '' : `${capitalize(detail)}.`,
    last === undefined ? '' : `Last message ${duration(now - last)} ago.`,
    applications === undefined
      ? ''
      : `${figure(applications)} ${applications === 1 ? 'application' : 'applications'} seen.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

function stateOf(status: ServiceStatus['argo_cd']['status'], unreachableSeconds: number | undefined): string {
  if (status === 'up') return 'Connected.'
  const since = unreachableSeconds === undefined || unreachableSeconds < 1 ? '' : ` for ${duration(unreachableSeconds)}`
  return status === 'down' ? `Unreachable${since}.` : `Connected, with delays${since}.`
}
