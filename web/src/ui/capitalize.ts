/** The name of an image, a host or a setting keeps its spelling: `registry.example/shop`, `targetRevision`. */
const isName = (word: string) => /[./@\d_]|[a-z][A-Z]/.test(word.replace(/[.,:;]$/, ''))

/** A text that begins a sentence. */
export const capitalize = (text: string): string =>
  isName(text.split(' ', 1)[0] ?? '') ? text : text.charAt(0).toUpperCase() + text.slice(1)
