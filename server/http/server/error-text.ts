const maxTextLength = 300
const maxEcho = 64

/** What a caller sent, fit to be shown back: at most 64 characters unless said otherwise, control characters made visible. */
export function echo(text: string, maxLength = maxEcho): string {
  const characters = [...text.slice(0, 2 * maxLength).toWellFormed()]
  const cut = characters.length > maxLength ? `${characters.slice(0, maxLength - 1).join('')}…` : text.toWellFormed()
  return cut.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => `\\u${hex(character)}`).slice(0, maxLength)
}

/** Joins all issues into at most 300 characters; says how many did not fit. */
export function joinIssues(issues: readonly string[]): string {
  const whole = issues.join('; ')
  if (whole.length <= maxTextLength) return whole
  let shown = 1
  while (issues.slice(0, shown + 1).join('; ').length <= maxTextLength - 20) shown++
  const rest = issues.length - shown
  const text = issues
    .slice(0, shown)
    .join('; ')
    .slice(0, maxTextLength - 20)
  return rest > 0 ? `${text}; and ${rest} more` : `${text}…`
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
}
