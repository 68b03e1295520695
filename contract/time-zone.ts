/** Also for names that the runtime accepts but that are no IANA names: `+02:00`, or a date with a zone. */
export function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z][\w+/-]*$/.test(name) && Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}
