const signs = [...'/@_0123456789']

/** The name of an image, a host or a setting keeps its spelling: `registry.example/shop`, `targetRevision`. */
function isName(word: string): boolean {
  const [inner, rest] = [word.slice(0, -1), word.slice(1)] // a full stop may also end a sentence
  return inner.includes('.') || rest !== rest.toLowerCase() || signs.some((sign) => word.includes(sign))
}

/** A text that begins a sentence. */
export function capitalize(text: string): string {
  const end = text.indexOf(' ')
  return isName(end < 0 ? text : text.slice(0, end)) ? text : text.charAt(0).toUpperCase() + text.slice(1)
}
