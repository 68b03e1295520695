import { LRUCache } from 'lru-cache'
import { isServiceText } from './own-words.ts'

const hidden = '<redacted>'

/** A shorter text would hide half of everything and protects nothing. */
const shortestSecret = 4
const shortestMiddle = 8

/**
 * Replaces secrets wherever they stand in a text: as they are, in JSON, in a URL or form, or within something in base64. One
 * that is a word of ours stays where it stands as it is: in its place the gap would tell it.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return knownFormsOf(secrets).reduce((safe, form) => safe.replaceAll(form, hidden), text)
}

/** Each line of the log is looked through for the same few secrets; those that were rotated away are forgotten in time. */
const knownForms = new LRUCache<string, readonly string[]>({ max: 20 })

/** The longest first, so that nothing is left of one that another begins, or of a whole after its parts. */
function knownFormsOf(secrets: readonly string[]): readonly string[] {
  const key = secrets.join('\0')
  const known = knownForms.get(key)
  if (known !== undefined) return known
  const forms = [...new Set(secrets.flatMap(formsOf))]
    .filter((form) => !isServiceText(form))
    .toSorted((one, other) => other.length - one.length)
  knownForms.set(key, forms)
  return forms
}

function formsOf(secret: string): string[] {
  if (secret.length < shortestSecret) return []
  // Basic authentication of an OAuth client has its secret as in a form.
  const inForm = new URLSearchParams({ '': secret }).toString().slice(1)
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), inForm]
  return [...forms, ...base64FormsOf(secret), ...base64FormsOf(inForm)]
}

function base64FormsOf(text: string): string[] {
  const whole = Buffer.from(text)
    .toString('base64')
    .replace(/={1,2}$/, '')
  const middles = [0, 1, 2]
    .map((before) => middleOfBase64(text, before))
    .filter((middle) => middle.length >= shortestMiddle)
  return [whole, ...middles].flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
}

/** The part of its base64 that stays the same whatever stands around it, as the user name of basic authentication does. */
function middleOfBase64(secret: string, before: number): string {
  const encoded = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    .toString('base64')
    .replace(/={1,2}$/, '')
  return encoded.slice(before === 0 ? 0 : before + 1, -1)
}
