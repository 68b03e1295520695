import { shorten } from '../../../contract/fields.ts'
import type { Image } from '../../../contract/task.ts'
import type { TaskStatus } from '../../../contract/task-status.ts'

/** The task that a badge is about. */
export type BadgeTask = { readonly status: TaskStatus; readonly images: readonly Image[] }

/** White text has a contrast of 4.5 and more on each. */
const grounds: Partial<Record<TaskStatus, string>> = {
  deployed: '#1a7f37',
  failed: '#cf222e',
  aborted: '#8a5d00',
  'in progress': '#0969da',
}
const unknownGround = '#656d76'

const maxTagLength = 40
const padding = 8

/** A badge as SVG; without a task it says that nothing is known. */
export function renderBadge(task: BadgeTask | undefined): string {
  const text = escapeXml(task === undefined ? 'unknown' : wordsOf(task))
  const ground = (task && grounds[task.status]) ?? unknownGround
  const textWidth = Math.ceil(widthOf(task === undefined ? 'unknown' : wordsOf(task)))
  const width = textWidth + 2 * padding
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${text}">`,
    `<title>${text}</title>`,
    `<rect width="${width}" height="20" rx="3" fill="${ground}"/>`,
    `<text x="${padding}" y="14" textLength="${textWidth}" lengthAdjust="spacingAndGlyphs" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text}</text>`,
    '</svg>\n',
  ].join('')
}

function wordsOf({ status, images }: BadgeTask): string {
  if (status !== 'deployed') return status
  const tags = [...new Set(images.map(({ tag }) => tag))]
  return tags.length === 1 ? `deployed ${shorten(tags[0] ?? '', maxTagLength)}` : `deployed ${images.length} images`
}

/** Characters that XML 1.0 does not know become U+FFFD. */
const escapeXml = (text: string) =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** About what Verdana takes at 11 px; the renderer stretches the text to it. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += widthOfCharacter(character)
  return width
}

function widthOfCharacter(character: string): number {
  if (/[fijlrtI.,:;|!'()[\] -]/.test(character)) return 4.5
  if (/[mwMW@%&]/.test(character)) return 10.5
  if (/[A-Z_]/.test(character)) return 7.7
  return character.charCodeAt(0) < 0x250 ? 6.8 : 11
}
