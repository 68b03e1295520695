import { oneLine, shorten } from '../fields.ts'

export const maxHeadlineLength = 120

/** `<kind> <name> <does>: <why>, <figures>` */
export type HeadlineParts = {
  readonly kind?: string
  readonly name?: string
  readonly does?: string
  readonly why?: string
  /** How often, in what time: the first to go where there is no room. */
  readonly figures?: string
}

/** The name of a container has at most so many characters; it always stays. */
const maxContainerLength = 63

/** So much of the reason stays where a name of up to 255 characters needs the room as well. */
const minWhyLength = 45

/** The parts in one line of at most 120 characters. The reason loses its end before a name loses its middle. */
export function fitHeadline({ kind, name = '', does, why = '', figures }: HeadlineParts): string {
  const line = (shownName: string, reason: string, numbers?: string) =>
    oneLine(joined(': ', joined(' ', kind, shownName, does), joined(', ', reason, numbers)))
  const fits = [line(name, why, figures), line(name, why)].find(({ length }) => length <= maxHeadlineLength)
  if (fits !== undefined) return fits
  const roomForWhy = maxHeadlineLength - line(name, '-').length + 1
  if (name.length <= maxContainerLength || roomForWhy >= Math.min(why.length, minWhyLength))
    return shorten(line(name, shorten(why, Math.max(1, roomForWhy))), maxHeadlineLength)
  const reason = shorten(why, minWhyLength)
  const roomForName = maxHeadlineLength - line('-', reason).length + 1
  return shorten(line(shortenMiddle(name, Math.max(1, roomForName)), reason), maxHeadlineLength)
}

function shortenMiddle(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const end = Math.floor((maxLength - 1) / 2)
  return `${text.slice(0, maxLength - 1 - end)}…${text.slice(text.length - end)}`.toWellFormed()
}

const joined = (between: string, ...parts: readonly (string | undefined)[]) => parts.filter(Boolean).join(between)
