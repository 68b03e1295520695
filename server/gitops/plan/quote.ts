/** At most 64 characters of a text from outside, in quotes and on one line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 63)}…` : text)
}
