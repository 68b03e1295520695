const hidden = '<redacted>'

/** A shorter text would hide half of everything and protects nothing. */
const shortestSecret = 4
const shortestMiddle = 8

/** Replaces secrets wherever they stand in a text: as they are, in JSON, in a URL, or within something in base64. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.flatMap(knownFormsOf).reduce((safe, form) => safe.replaceAll(form, hidden), text)
}

/** Each line of the log is looked through for the same few secrets; those that were rotated away are forgotten in time. */
const knownForms = new Map<string, readonly string[]>()
const mostKnown = 100

function knownFormsOf(secret: string): readonly string[] {
  const forms = knownForms.get(secret) ?? formsOf(secret)
  if (knownForms.size >= mostKnown) knownForms.clear()
  knownForms.set(secret, forms)
  return forms
}

/** The whole before its parts, so that nothing of it is left over. */
function formsOf(secret: string): string[] {
  if (secret.length < shortestSecret) return []
  const whole = Buffer.from(secret)
    .toString('base64')
    .replace(/={1,2}$/, '')
  const middles = [0, 1, 2]
    .map((before) => middleOfBase64(secret, before))
    .filter((text) => text.length >= shortestMiddle)
  const inBase64 = [whole, ...middles].flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')])
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), ...inBase64]
}

/** The part of its base64 that stays the same whatever stands around it, as the user name of basic authentication does. */
function middleOfBase64(secret: string, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    .toString('base64')
    .replace(/={1,2}$/, '')
  return encoded.slice(before === 0 ? 0 : before + 1, -1)
}
