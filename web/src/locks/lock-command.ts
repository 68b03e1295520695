import { shellQuote } from '../ui/shell-quote.ts'

/** What does the same from a terminal, as it can be pasted into a shell. */
export function lockCommand(origin: string, isLocked: boolean, reason: string): string {
  const call = `curl --fail-with-body -X ${isLocked ? 'DELETE' : 'POST'} ${origin}/api/v1/deploy-lock`
  const credential = '  -H "Oidc-Authorization: Bearer $TOKEN"'
  if (isLocked) return `${call} \\\n${credential}`
  const body = shellQuote(JSON.stringify({ reason: reason === '' ? 'OPS-2214' : reason }))
  return `${call} \\\n${credential} \\\n  -H "Content-Type: application/json" \\\n  -d ${body}`
}

/** Without an identity provider only the schedule locks. */
export const scheduleSetting = (windows: readonly string[]): string =>
  `LOCKDOWN_SCHEDULE=${shellQuote(windows.length === 0 ? 'Fri 17:00 - Mon 08:00' : windows.join(', '))}`

/** Tells when a schedule locks, without the service. */
export const tryScheduleCommand = (windows: readonly string[], timeZone: string): string =>
  `npm run schedule -- ${shellQuote(windows.length === 0 ? 'Fri 17:00 - Mon 08:00' : windows.join(', '))} --timezone ${timeZone}`
