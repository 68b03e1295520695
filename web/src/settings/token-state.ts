import type { DeployToken } from '../../../contract/auth.ts'
import { duration } from '../ui/duration.ts'
import { noBreak } from '../ui/figure.ts'

const daySeconds = 86_400
const soonDays = 14

export type TokenState = {
  readonly kind: 'good' | 'soon' | 'expired' | 'revoked'
  readonly words: string
}

/** "in 91 days", "in 13 days" (soon), "Expired", "Revoked". */
export function tokenState({ expires, revoked }: Pick<DeployToken, 'expires' | 'revoked'>, now: number): TokenState {
  if (revoked !== null) return { kind: 'revoked', words: 'Revoked' }
  if (expires <= now) return { kind: 'expired', words: 'Expired' }
  const days = Math.floor((expires - now) / daySeconds)
  const words = days < 2 ? `in ${duration(expires - now)}` : `in ${days}${noBreak}days`
  return { kind: days < soonDays ? 'soon' : 'good', words }
}
