import type { Link, Notice } from './notice.ts'
import { cut, lastLines, plain } from './plain-text.ts'

/** Teams accepts 28 KB, which includes what Workflows adds. */
const maxBytes = 27 * 1024
const maxLogLength = 6_000
const maxTextLength = 1_000

type TextRun = {
  readonly type: 'TextRun'
  readonly text: string
  readonly weight?: 'Bolder'
  readonly fontType?: 'Monospace'
}
/** Teams reads Markdown in a TextBlock and in a Fact, and none in the runs of a RichTextBlock. */
type Paragraph = { readonly type: 'RichTextBlock'; readonly spacing?: 'None'; readonly inlines: readonly TextRun[] }
type Container = {
  readonly type: 'Container'
  readonly style: string
  readonly bleed: true
  items: readonly Paragraph[]
}
type OpenUrl = { readonly type: 'Action.OpenUrl'; readonly title: string; readonly url: string }

type TeamsMessage = {
  readonly type: 'message'
  readonly attachments: readonly [
    {
      readonly contentType: 'application/vnd.microsoft.card.adaptive'
      readonly content: {
        readonly $schema: string
        readonly type: 'AdaptiveCard'
        readonly version: '1.4'
        readonly body: readonly (Container | Paragraph)[]
        readonly actions: readonly OpenUrl[]
        readonly msteams: { readonly width: 'Full' }
      }
    },
  ]
}

const styles: Readonly<Record<Notice['tone'], string>> = {
  running: 'accent',
  good: 'good',
  bad: 'attention',
  warning: 'warning',
  neutral: 'emphasis',
}

/**
 * An Adaptive Card in the form that a webhook of Workflows accepts, of at most 27 KiB. The oldest lines of the log are dropped
 * first, then links.
 */
export function renderTeams({ headline, tone, facts, links, log }: Notice): TeamsMessage {
  const title: Container = {
    type: 'Container',
    style: styles[tone],
    bleed: true,
    items: [{ type: 'RichTextBlock', inlines: [{ ...run(headline), weight: 'Bolder' }] }],
  }
  const paragraphs = facts.map(({ label, text }) => paragraph(label, text))
  const card = (lines: readonly string[], linked: readonly Link[]) =>
    inMessage([title, ...paragraphs, ...logParagraphs(log?.pod ?? '', lines)], linked)

  let [lines, linked] = [lastLines(log?.lines ?? [], maxLogLength), links]
  for (;;) {
    const message = card(lines, linked)
    if (bytesOf(message) <= maxBytes || (lines.length === 0 && linked.length <= 1)) return message
    if (lines.length > 0) lines = lines.slice(1)
    else linked = linked.slice(0, -1)
  }
}

const bytesOf = (message: TeamsMessage) => Buffer.byteLength(JSON.stringify(message))

const inMessage = (body: readonly (Container | Paragraph)[], links: readonly Link[]): TeamsMessage => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body,
        actions: links.map(({ title, url }) => ({ type: 'Action.OpenUrl', title, url })),
        msteams: { width: 'Full' },
      },
    },
  ],
})

const paragraph = (label: string, text: string): Paragraph => ({
  type: 'RichTextBlock',
  inlines: [...(label === '' ? [] : [{ type: 'TextRun', text: `${label}: `, weight: 'Bolder' } as const]), run(text)],
})

function logParagraphs(pod: string, lines: readonly string[]): readonly Paragraph[] {
  if (lines.length === 0) return []
  const shown = lines.map(
    (line): Paragraph => ({
      type: 'RichTextBlock',
      spacing: 'None',
      inlines: [{ ...run(line), fontType: 'Monospace' }],
    }),
  )
  return [paragraph('Log of Pod', pod), ...shown]
}

const run = (text: string): TextRun => ({ type: 'TextRun', text: inert(cut(plain(text), maxTextLength)) })

/**
 * Clients may find addresses, mentions (`<at>`), functions of dates (`{{DATE(…)}}`) and expressions of templates (`${…}`) in any
 * text. A space without width ends each of them.
 */
const inert = (text: string): string =>
  text.replace(/<(?=[a-z/!])|@|\{(?=\{)|\$(?=\{)|:(?=\/)|\b(?:mailto|tel):|\bwww(?=\.)/gi, '$&\u200b')
