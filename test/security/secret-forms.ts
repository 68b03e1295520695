/** How a secret may show up: as it is, in JSON, in a URL, or in base64 wherever it begins in the encoded text. */
export function formsOf(secret: string): string[] {
  const inBase64 = [0, 1, 2].map((before) => middleOfBase64(secret, before))
  const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), ...inBase64]
  return [...new Set([...forms, ...inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))])]
}

/** The same as somebody else would write it, in an error or a header. */
export function writtenForms(secret: string): string {
  const inBase64 = [secret, `me:${secret}`, `you:${secret}`, `${secret} and more`].map((text) => Buffer.from(text))
  const encoded = inBase64.flatMap((bytes) => [bytes.toString('base64'), bytes.toString('base64url')])
  return [secret, JSON.stringify(secret), encodeURIComponent(secret), ...encoded].join(' ')
}

/** The part that does not depend on what stands around. */
function middleOfBase64(secret: string, before: number): string {
  const encoded = Buffer.from(`${'x'.repeat(before)}${secret}`)
    .toString('base64')
    .replace(/={1,2}$/, '')
  return encoded.slice(before === 0 ? 0 : before + 1, -2)
}
